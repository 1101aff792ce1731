// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Locale;
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
        confirm(
            "the store has other locks (" + others + " were seen), which will feel the load", yes);
      }
    } catch (ExecutionException | TimeoutException e) {
      throw new CliException(Exit.UNAVAILABLE, Failures.oneLine(String.valueOf(e)), e);
    }
  }

  /**
   * Asks about something else.
   *
   * @param what a sentence without its end
   * @param yes whether the answer is known
   * @throws CliException if the answer is no, or if there is nobody to ask
   */
  static void confirm(String what, boolean yes) {
    if (!yes && !confirmed(what)) {
      throw new CliException(Exit.USAGE, "nothing was done");
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

  private static boolean confirmed(String what) {
    if (!(Terminal.is(0) && Terminal.is(2))) {
      throw new CliException(Exit.USAGE, what + "; if you are sure, add --yes");
    }
    System.err.print(
        what.substring(0, 1).toUpperCase(Locale.ROOT) + what.substring(1) + ". Go on? [y/N] ");
    System.err.flush();
    try {
      String answer =
          new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).startsWith("y");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
