// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;

/**
 * Several machines start the same job on the hour, and one message must go out: not two, and not none because the one
 * that was to send it has failed or died.
 *
 * <p>The process that gets the lock sends. The others wait to see how that ends. After a success the lock stays taken
 * ({@code holdAtLeast}), so that they give up; after a failure it is free at once, and after a crash as soon as the lease
 * has ended, and the next one sends.
 *
 * <p>How to choose the times. The lease plus the time to send: below the wait, or no process is left to take over. The lock
 * is kept: longer than the wait plus what separates the machines' starts, or the last one still finds it free; and wait
 * plus kept: shorter than the hour, or the next message finds it taken.
 *
 * <p>If a process dies after it has sent and before it has said so, the next one sends again. If that matters, the receiver
 * has to know a message that it already has: give it the hour as its id, and the token to tell late senders apart.
 */
final class HourlyMessage {
  /** What {@code holdfast run} exits with, too. */
  static final int GAVE_UP = 75;

  private static final Duration WAIT = Duration.ofMinutes(5);
  private static final LockOptions OPTIONS = LockOptions.builder()
      .leaseFor(Duration.ofSeconds(30))
      .holdAtLeast(Duration.ofMinutes(50))
      .note("hourly message")
      .build();

  private final DistributedLock lock;
  private final Duration wait;

  HourlyMessage(DistributedLock lock, Duration wait) {
    this.lock = lock;
    this.wait = wait;
  }

  /**
   * Sends the message, unless another process does.
   *
   * @param send sends; throws if the message did not go out
   * @return false if another process has sent it, or was still sending when the wait was over
   */
  <X extends Exception> boolean send(Work<X> send) throws X, InterruptedException {
    Optional<Hold> free = lock.tryAcquire(wait);
    if (free.isEmpty()) {
      return false;
    }
    Hold hold = free.get();
    boolean sent = false;
    try {
      send.run(hold);
      sent = true;
    } finally {
      if (sent) {
        hold.close(); // stays taken, for those who still wait
      } else {
        hold.releaseNow(); // the next one tries
      }
    }
    return true;
  }

  /** Sends by appending to a file: {@code HourlyMessage STORE OUTBOX}. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length != 2) {
      System.err.println("usage: HourlyMessage STORE OUTBOX");
      System.exit(64);
    }
    Path outbox = Path.of(args[1]);
    boolean sent;
    try (Holdfast holdfast = Holdfast.connect(args[0])) {
      DistributedLock lock = holdfast.lock("hourly-message", OPTIONS);
      sent = new HourlyMessage(lock, WAIT).send(hold -> append(outbox, hold));
    }
    System.exit(sent ? 0 : GAVE_UP);
  }

  /** The token goes with the message: a receiver that has seen a greater one knows that this one is late. */
  static void append(Path outbox, Hold hold) throws IOException {
    hold.ensureValid();
    Files.writeString(
        outbox,
        "the hourly message, token " + hold.token() + "\n",
        StandardCharsets.UTF_8,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }
}
