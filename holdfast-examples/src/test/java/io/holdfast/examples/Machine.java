// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A machine of its own, for {@link HourlyMessageTest}: says {@code ready}, starts the job when it is told that the hour
 * strikes, says {@code asks} when it has asked for the lock. The first sender of all says {@code first} and is then told
 * how its sending ends.
 */
final class Machine {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Path folder;
  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private Machine(Path folder) {
    this.folder = folder;
  }

  /** Connects with patience: many machines start on this one at the same time. */
  static Holdfast connect(String store) {
    return Holdfast.builder().store(store).requestTimeout(PATIENCE).build();
  }

  /** Arguments: the folder, then wait, holdAtLeast and lease in milliseconds. */
  public static void main(String[] args) throws Exception {
    Machine machine = new Machine(Path.of(args[0]));
    LockOptions options = LockOptions.builder()
        .holdAtLeast(Duration.ofMillis(Long.parseLong(args[2])))
        .leaseFor(Duration.ofMillis(Long.parseLong(args[3])))
        .build();
    boolean sent;
    try (Holdfast holdfast = Holdfast.builder()
        .store("sqlite:" + machine.folder.resolve("locks.db"))
        .requestTimeout(PATIENCE)
        .listener(Machine::tell)
        .build()) {
      DistributedLock lock = holdfast.lock("hourly-message", options);
      System.out.println("ready");
      machine.in.readLine();
      sent =
          new HourlyMessage(lock, Duration.ofMillis(Long.parseLong(args[1]))).send(machine::send);
    }
    System.exit(sent ? 0 : HourlyMessage.GAVE_UP);
  }

  private static void tell(LockEvent event) {
    if (event instanceof LockEvent.Requested) {
      System.out.println("asks");
    }
  }

  private void send(Hold hold) throws IOException {
    if (Files.deleteIfExists(folder.resolve("first"))) {
      System.out.println("first");
      if (!"succeed".equals(in.readLine())) {
        throw new IOException("the mail server is down");
      }
    }
    HourlyMessage.append(folder.resolve("outbox"), hold);
  }
}
