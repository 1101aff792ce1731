// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Whether a store has other users, who would feel the load; people are asked then. */
final class OtherLocks {
  private static final int TIMEOUT_SECONDS = 10;

  private OtherLocks() {}

  /**
   * Asks, if there are any.
   *
   * @param store connected
   * @param ours what the names of our own locks begin with
   * @param yes whether the answer is known
   * @throws CliException if the answer is no, if there is nobody to ask, or if the store does not say
   */
  static void confirm(LockStore store, String ours, boolean yes) throws InterruptedException {
    if (yes) {
      return;
    }
    try {
      long others = count(store, ours);
      if (others > 0) {
        Question.confirm(
            "the store has other locks (" + others + " were seen), which will feel the load", yes);
      }
    } catch (ExecutionException | TimeoutException e) {
      throw Failures.explainStage(e, TIMEOUT_SECONDS);
    }
  }

  /** Counts locks that are not ours, in the first page that has any. */
  private static long count(LockStore opened, String ours)
      throws InterruptedException, ExecutionException, TimeoutException {
    Optional<String> next = Optional.empty();
    do {
      LockPage page =
          opened.list("", next).toCompletableFuture().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      long others =
          page.locks().stream().filter(each -> !each.name().startsWith(ours)).count();
      if (others > 0) {
        return others;
      }
      next = page.next();
    } while (next.isPresent());
    return 0;
  }
}
