// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.AcquireUnknownException;
import io.holdfast.testkit.Await;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What the caller of a server that grants nothing is told. */
final class Told {
  private Told() {}

  /**
   * Returns what a call fails with that ends between two attempts. The time of one that ends with an attempt on its way, on a
   * machine that stands still, says only that the answer is not known: it is made again.
   */
  static Throwable by(ThrowingCallable call) {
    return Await.present("a call that ends between two attempts", () -> {
      Throwable thrown = catchThrowable(call);
      assertThat(thrown).as("a call that is refused").isNotNull();
      return thrown instanceof AcquireUnknownException ? Optional.empty() : Optional.of(thrown);
    });
  }
}
