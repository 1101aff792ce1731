// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.List;
import java.util.Optional;

/**
 * Looks at locks and, in an emergency, ends another client's hold.
 *
 * <pre>{@code
 * for (LockInfo each : holdfast.admin().list("order:")) {
 *   lines.add(each.name() + " " + each.holder().map(Holder::describe).orElse("free"));
 * }
 * Optional<LockInfo> seen = holdfast.admin().inspect("order:42");
 * boolean ended = seen.isPresent() && holdfast.admin().forceRelease(seen.get());
 * }</pre>
 *
 * <p>A call blocks for a few request time-outs at most, except {@link #list}, which asks for as many parts as there are.
 */
public interface LockAdmin {
  /**
   * Lists the locks that the store knows as taken or waited for, by name. The store is asked for one part after the other, each
   * within a request's time: on Redis all keys are walked over, some millions in a second, whatever they are for. A lock that is
   * taken and released while that goes on may be listed, or not.
   *
   * @param prefix what names begin with; empty for all
   * @return the locks, in the order of their names
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   */
  List<LockInfo> list(String prefix);

  /**
   * Looks at one lock.
   *
   * @param name the lock
   * @return what the store says; empty if it knows nothing of it, or only that it was once held
   * @throws IllegalArgumentException if it is no valid name
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   */
  Optional<LockInfo> inspect(String name);

  /**
   * Ends the hold that was seen, without the holder's consent. The holder learns of it at its next renewal and may be
   * working until then: it is fenced only where the resource checks tokens and the next holder has written. Conditional:
   * if another hold has begun since {@code seen} was read, nothing happens.
   *
   * @param seen what {@link #inspect} or {@link #list} returned
   * @return true if that hold was ended
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked, or its answer was lost (inspect again)
   */
  boolean forceRelease(LockInfo seen);

  /**
   * Returns how many exceptions listeners and callbacks have thrown; each was caught and logged.
   *
   * @return the count since this client began
   */
  long callbackFailures();
}
