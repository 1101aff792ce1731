// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.spi.LockStore;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A store that is measured, with a server that is there for this alone.
 *
 * @param store opens it, for one client
 * @param counter counts what it is asked
 * @param goesOn whether requests are still under way when one has been answered: to a minority
 * @param hears whether a client that has waited once is ready to be told of releases, where it must first make itself so
 * @param end ends the server
 */
record Subject(
    Supplier<LockStore> store, Counter counter, boolean goesOn, BooleanSupplier hears, Runnable end)
    implements AutoCloseable {
  Subject(Supplier<LockStore> store, Counter counter, Runnable end) {
    this(store, counter, false, () -> true, end);
  }

  @Override
  public void close() {
    end.run();
  }
}
