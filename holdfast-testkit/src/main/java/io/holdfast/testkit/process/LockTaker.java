// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A program that takes locks as it is told, line by line, on its standard input, and answers each line with one on its
 * standard output; READY or FAILED comes before all others. {@link LockTakerProcess} drives it.
 *
 * <pre>
 * acquire NAME LEASE_MS RENEW     HELD TOKEN | FAILED CLASS MESSAGE
 * release                         RELEASED true|false
 * state                           STATE STATE VALID LOSSES
 * watch GAP_MS                    WATCHING
 * watched                         WATCHED GAPS VALID_AFTER_A_GAP
 * use NAME FILE TIMES             USED TIMES
 * </pre>
 */
public final class LockTaker {
  private static final int CONTACTS = 10;

  private final Holdfast holdfast;
  private final AtomicInteger losses = new AtomicInteger();
  private @Nullable Hold hold;
  private @Nullable Watch watch;

  private LockTaker(String uri) {
    this.holdfast = Holdfast.builder()
        .store(uri)
        .clientName("lock-taker")
        .requestTimeout(Duration.ofSeconds(5))
        .listener(event -> {
          if (event instanceof LockEvent.Lost) {
            losses.incrementAndGet();
          }
        })
        .build();
  }

  /**
   * Runs until its input ends.
   *
   * @param args the store's address
   * @throws IOException if the input cannot be read
   * @throws InterruptedException never in practice
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    LockTaker taker;
    try {
      taker = connected(args[0]);
    } catch (HoldfastException e) {
      out.println(failed(e));
      return;
    }
    out.println("READY");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(taker.answer(line.split(" ", -1)));
    }
    taker.holdfast.close();
  }

  /** A store waits for a second or two for its server, which on a busy machine may be less than a JVM that starts needs. */
  private static LockTaker connected(String uri) {
    for (int i = 1; i < CONTACTS; i++) {
      try {
        return new LockTaker(uri);
      } catch (StoreUnavailableException e) {
        if (e.reason() != StoreUnavailableException.Reason.UNREACHABLE) {
          throw e;
        }
      }
    }
    return new LockTaker(uri);
  }

  private String answer(String[] words) throws IOException, InterruptedException {
    try {
      return switch (words[0]) {
        case "acquire" ->
          acquire(words[1], Long.parseLong(words[2]), Boolean.parseBoolean(words[3]));
        case "release" -> "RELEASED " + current().release();
        case "state" ->
          "STATE " + current().state() + " " + current().isValid() + " " + losses.get();
        case "watch" -> watch(Long.parseLong(words[1]));
        case "watched" -> watched();
        case "use" -> use(words[1], Path.of(words[2]), Integer.parseInt(words[3]));
        default -> "FAILED unknown " + words[0];
      };
    } catch (HoldfastException e) {
      return failed(e);
    }
  }

  private static String failed(HoldfastException e) {
    return "FAILED " + e.getClass().getSimpleName() + " " + e.getMessage();
  }

  private Hold current() {
    if (hold == null) {
      throw new IllegalStateException("nothing was acquired");
    }
    return hold;
  }

  private String acquire(String name, long leaseMillis, boolean renew) throws InterruptedException {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofMillis(leaseMillis))
        .renew(renew)
        .build();
    Hold fresh = holdfast.lock(name, options).acquire();
    hold = fresh;
    return "HELD " + fresh.token();
  }

  private String watch(long gapMillis) throws InterruptedException {
    Watch fresh = new Watch(current(), gapMillis);
    watch = fresh;
    fresh.start();
    fresh.looks.await();
    return "WATCHING";
  }

  private String watched() {
    Watch watching = watch;
    return watching == null
        ? "FAILED not watching"
        : "WATCHED " + watching.gaps + " " + watching.validAfterAGap;
  }

  /**
   * Adds to a number in a file in two steps that only the lock makes one, and checks that the token, kept beside it, has
   * grown.
   */
  private String use(String name, Path file, int times) throws IOException, InterruptedException {
    for (int i = 0; i < times; i++) {
      try (Hold each = holdfast.lock(name).acquire()) {
        ByteBuffer before = ByteBuffer.wrap(Files.readAllBytes(file));
        long count = before.getLong();
        long lastToken = before.getLong();
        if (each.token() <= lastToken) {
          return "FAILED token " + each.token() + " after " + lastToken;
        }
        ByteBuffer after = ByteBuffer.allocate(2 * Long.BYTES);
        after.putLong(count + 1).putLong(each.token());
        Files.write(file, after.array());
      }
    }
    return "USED " + times;
  }

  /** Looks at a hold all the time, and at what it says right after the process stood still. */
  private static final class Watch extends Thread {
    private final Hold watched;
    private final long gapNanos;

    /** A process that is stopped before its watch has looked once would not see the gap. */
    final CountDownLatch looks = new CountDownLatch(1);

    volatile int gaps;
    volatile int validAfterAGap;

    Watch(Hold watched, long gapMillis) {
      super("watch");
      setDaemon(true);
      this.watched = watched;
      this.gapNanos = Duration.ofMillis(gapMillis).toNanos();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // the only writer
    public void run() {
      long last = Ticker.system().nanos();
      looks.countDown();
      while (true) {
        long now = Ticker.system().nanos();
        boolean valid =
            watched.isValid(); // read after the clock was: after the gap, if there was one
        if (now - last > gapNanos) {
          validAfterAGap += valid ? 1 : 0;
          gaps++;
        }
        last = now;
        Thread.onSpinWait();
      }
    }
  }
}
