// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A process that takes locks, works under them, and says what it sees. */
final class Worker {
  private static final long LOOK_NANOS = 4_000_000;
  private static final int REST_MILLIS = 8;
  private static final int SLOW_ONE_IN = 12;
  private static final int REENTRANT_ONE_IN = 10;
  private static final int ASKING_MILLIS = 500;

  private final Ticker ticker = Ticker.system();
  private final String name;
  private final Orders orders;
  private final Locker locker;
  private final List<String> locks;
  private final Duration lease;
  private final SplittableRandom random;
  private long number;
  private String order = "";

  /** Why the last cycle got no answer; empty if it got one. */
  private String failure = "";

  private Worker(
      String name,
      Orders orders,
      Locker locker,
      List<String> locks,
      Duration lease,
      SplittableRandom random) {
    this.name = name;
    this.orders = orders;
    this.locker = locker;
    this.locks = locks;
    this.lease = lease;
    this.random = random;
  }

  /**
   * Runs until it is told to stop. The first line that it reads has the store's address, which may hold a password.
   *
   * @param arguments the worker's name, the protocol, the lease in milliseconds, the seed, and the locks
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    // what a driver prints must not get between the facts
    System.setOut(System.err);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String uri = in.readLine();
    if (uri == null) {
      return;
    }
    Orders orders = new Orders(in, out);
    String name = arguments[0];
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
    Locker locker = Protocol.of(arguments[1]).open(uri, lease, new Renewals(orders, name));
    List<String> locks = List.of(arguments).subList(4, arguments.length);
    SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[3]));
    Worker worker = new Worker(name, orders, locker, locks, lease, random);
    orders.say(Fact.of(What.STARTED, Ticker.system().nanos(), name, ""));
    worker.run();
    locker.close();
  }

  private void run() throws InterruptedException {
    while (order.isEmpty()) {
      String lock = locks.get(random.nextInt(locks.size()));
      if (random.nextInt(REENTRANT_ONE_IN) == 0) {
        reenter(lock);
      } else {
        cycle(lock, Duration.ofMillis(ASKING_MILLIS), holding());
      }
      rest(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(REST_MILLIS)));
    }
    if (order.startsWith(Orders.DRAIN)) {
      Duration within = Duration.ofMillis(Long.parseLong(order.substring(Orders.DRAIN.length())));
      order = "";
      drain(within);
    }
  }

  /** There are no faults any more: every lock is to be had within the bound. */
  private void drain(Duration within) throws InterruptedException {
    for (String lock : locks) {
      long by = ticker.nanos() + within.toNanos();
      while (order.isEmpty() && !cycle(lock, Duration.ofNanos(by - ticker.nanos()), 0)) {
        if (ticker.nanos() - by >= 0) {
          What why = failure.isEmpty() ? What.LEFT_BEHIND : What.AWAY;
          orders.say(new Fact(why, ticker.nanos(), name, lock, 0, 0, failure));
          break;
        }
        rest(TimeUnit.MILLISECONDS.toNanos(REST_MILLIS));
      }
    }
  }

  /** For how long to hold: most are quick, some take about as long as a lease. */
  private long holding() {
    return random.nextInt(SLOW_ONE_IN) == 0
        ? random.nextLong(lease.toNanos() / 2, lease.toNanos() * 2)
        : random.nextLong(LOOK_NANOS * 2);
  }

  private boolean cycle(String lock, Duration wait, long holdNanos) throws InterruptedException {
    long hold = ++number;
    failure = "";
    say(What.REQUESTED, ticker.nanos(), lock, hold, 0, "");
    Optional<Grip> grip;
    try {
      grip = locker.acquire(
          lock,
          wait.isNegative() ? Duration.ZERO : wait,
          () -> say(What.LOST, ticker.nanos(), lock, hold, 0, ""));
    } catch (RuntimeException e) {
      failure = String.valueOf(e);
      say(What.FAILED, ticker.nanos(), lock, hold, 0, failure);
      return false;
    }
    if (grip.isEmpty()) {
      say(What.BUSY, ticker.nanos(), lock, hold, 0, "");
      return false;
    }
    long token = grip.get().token();
    say(What.ACQUIRED, ticker.nanos(), lock, hold, token, "");
    work(grip.get(), lock, hold, token, holdNanos);
    long before = ticker.nanos();
    long remaining = grip.get().remainingNanos();
    say(What.RELEASING, before, lock, hold, token, "");
    try {
      boolean wasMine = grip.get().release();
      long after = ticker.nanos();
      say(ended(wasMine, after - before, remaining), after, lock, hold, token, "");
    } catch (RuntimeException e) {
      say(What.FAILED, ticker.nanos(), lock, hold, token, String.valueOf(e));
    }
    return true;
  }

  /**
   * Says what a release was.
   *
   * @param wasMine what the store said
   * @param took how long it took, in nanoseconds
   * @param remaining for how many nanoseconds the hold was certain when the release began; a hold is not renewed during its
   *     release
   */
  static What ended(boolean wasMine, long took, long remaining) {
    if (wasMine) {
      return What.RELEASED;
    }
    return took < remaining ? What.NOT_MINE : What.TOO_LATE;
  }

  /** Looks before the work and now and then, and writes at the end without another look: as programs do. */
  private void work(Grip grip, String lock, long hold, long token, long holdNanos)
      throws InterruptedException {
    long until = ticker.nanos() + holdNanos;
    boolean valid = look(grip, lock, hold, token);
    while (valid && order.isEmpty() && ticker.nanos() - until < 0) {
      rest(Math.min(LOOK_NANOS, until - ticker.nanos()));
      valid = look(grip, lock, hold, token);
    }
    if (valid) {
      // whatever happens between that look and this write is what tokens are for
      boolean taken = orders.write(lock, hold, token);
      if (!taken) {
        look(grip, lock, hold, token);
      }
    }
  }

  private boolean look(Grip grip, String lock, long hold, long token) {
    long before = ticker.nanos();
    boolean valid = grip.isValid();
    say(valid ? What.VALID : What.INVALID, before, lock, hold, token, "");
    return valid;
  }

  private void reenter(String lock) throws InterruptedException {
    long hold = ++number;
    say(What.REQUESTED, ticker.nanos(), lock, hold, 0, "");
    try {
      Optional<String> wrong = locker.tryReentrancy(lock, new Inside(lock, hold));
      wrong.ifPresent(text -> say(What.COUNTED_WRONGLY, ticker.nanos(), lock, 0, 0, text));
    } catch (RuntimeException e) {
      say(What.FAILED, ticker.nanos(), lock, hold, 0, String.valueOf(e));
    }
  }

  /** Says which renewals this process sends. */
  private record Renewals(Orders orders, String name) implements WatchedStore.Renewals {
    @Override
    public void sent() {
      orders.say(Fact.of(What.RENEWED, Ticker.system().nanos(), name, ""));
    }

    @Override
    public void sentWrongly(String why) {
      orders.say(Fact.of(What.RENEWED_WRONGLY, Ticker.system().nanos(), name, why));
    }
  }

  /** Says where this process is in a reentrant lock. */
  private final class Inside implements Locker.Witness {
    private final String lock;
    private final long hold;

    Inside(String lock, long hold) {
      this.lock = lock;
      this.hold = hold;
    }

    @Override
    public void entered(long token) {
      tell(What.ACQUIRED, token);
    }

    @Override
    public void reentered(long token) {
      tell(What.REENTERED, token);
    }

    @Override
    public void left(long token) {
      tell(What.LEFT, token);
    }

    @Override
    public void leaving(long token) {
      tell(What.RELEASING, token);
    }

    @Override
    public void over(long token, boolean lost) {
      tell(lost ? What.LOST : What.RELEASED, token);
    }

    private void tell(What what, long token) {
      say(what, ticker.nanos(), lock, hold, token, "");
    }
  }

  private void rest(long nanos) throws InterruptedException {
    String came = orders.await(nanos);
    if (!came.isEmpty()) {
      order = came;
    }
  }

  private void say(What what, long at, String lock, long hold, long token, String text) {
    orders.say(new Fact(what, at, name, lock, hold, token, text));
  }
}
