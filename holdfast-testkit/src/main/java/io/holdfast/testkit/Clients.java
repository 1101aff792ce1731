// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Makes clients for stores that are there, which a machine that stands still for a few seconds does not disturb: if the
 * store does not answer the first contact, there is another one, and a request has more time than by default.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Clients.connect("memory:")) {
 *   assertThat(holdfast.lock("job").tryAcquire()).isPresent();
 * }
 * }</pre>
 */
public final class Clients {
  /** The time of a request: 5 s, above which a caller of a blocking method no longer does the work itself on a database. */
  public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

  private Clients() {}

  /**
   * Connects to a store, as {@link Holdfast#connect(String)} does.
   *
   * @param uri the store's address
   * @return a client that is connected
   * @throws StoreUnavailableException if the store refuses the client; not if it does not answer at first
   * @throws io.holdfast.ConfigurationException if the address is wrong, or the store cannot be used as it is configured
   * @throws AssertionError if it does not answer within {@link Await#PATIENCE}
   */
  public static Holdfast connect(String uri) {
    return build(() -> Holdfast.builder().store(uri).requestTimeout(REQUEST_TIMEOUT));
  }

  /**
   * Builds a client, again if the store did not answer.
   *
   * @param builder makes a builder for each contact: one can build one client only
   * @return a client, connected unless the builder is to connect lazily
   * @throws StoreUnavailableException if the store refuses the client; not if it does not answer at first
   * @throws io.holdfast.ConfigurationException if the address is wrong, or the store cannot be used as it is configured
   * @throws AssertionError if it does not answer within {@link Await#PATIENCE}
   */
  public static Holdfast build(Supplier<Holdfast.Builder> builder) {
    return Await.present(
        "a contact with the store", () -> Optional.of(builder.get().build()));
  }
}
