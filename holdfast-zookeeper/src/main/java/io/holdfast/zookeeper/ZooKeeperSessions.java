// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The sessions of one store: one for each length of lease, opened when it is first needed, because a dead holder's lock
 * ends with the session. Lengths are rounded up to a few steps, so that there are few of them, and one that no claim has
 * needed for a minute is closed: each has a connection and its threads. On an application's own framework there is one for
 * all.
 */
final class ZooKeeperSessions {
  private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");
  private static final int LEAST_MILLIS = 1000;
  private static final long LOOK_AT_MOST_NANOS = 100_000_000L;
  private static final long UNUSED_NANOS = 60_000_000_000L;

  private final ZooKeeperClients clients;
  private final Duration reserve;
  private final String nothing;
  private final Ticker ticker;
  private final ZooKeeperSession.Listener listener;
  private final Map<Integer, ZooKeeperSession> open = new ConcurrentHashMap<>();
  private final ZooKeeperSession main;

  /** Whether there is another server to go to; the application's own client is not hung up on. */
  private final boolean isOneOfSeveral;

  private volatile boolean closed;

  /**
   * Makes the sessions, and opens none.
   *
   * @param clients makes the frameworks
   * @param nothing a path where nothing ever is
   * @param longest the longest lease
   * @param reserve by how much a session must outlast a lease
   * @param ticker the local clocks
   * @param listener who hears of the connections
   */
  ZooKeeperSessions(
      ZooKeeperClients clients,
      String nothing,
      Duration longest,
      Duration reserve,
      Ticker ticker,
      ZooKeeperSession.Listener listener) {
    this.clients = clients;
    this.reserve = reserve;
    this.nothing = nothing;
    this.ticker = ticker;
    this.listener = listener;
    this.isOneOfSeveral = !clients.isGiven() && ServerList.isOneOfSeveral(clients.servers());
    int millis = millisFor(mainLease(longest));
    this.main = make(millis);
    open.put(millis, main);
  }

  /** Returns the lease that the first session is for: a longer one would notice late that a server is gone. */
  static Duration mainLease(Duration longest) {
    Duration usual = LockOptions.DEFAULT_LEASE;
    return longest.compareTo(usual) < 0 ? longest : usual;
  }

  /** Opens the first session. */
  void start() {
    main.start();
  }

  /** The session for what belongs to no lease. */
  ZooKeeperSession main() {
    return main;
  }

  /**
   * Returns the session for a lease, entered for a claim, which is to {@link ZooKeeperSession#leave} it; it may not be
   * connected yet.
   */
  ZooKeeperSession forLease(Duration lease) {
    int millis = millisFor(lease);
    while (true) {
      ZooKeeperSession session = clients.isGiven() ? main : forMillis(millis);
      if (session.enter()) {
        return session;
      }
      open.remove(millis, session);
    }
  }

  private ZooKeeperSession forMillis(int millis) {
    ZooKeeperSession there = open.get(millis);
    if (there != null) {
      there.startAgain();
      return there;
    }
    if (closed) {
      return main;
    }
    ZooKeeperSession fresh = make(millis);
    ZooKeeperSession other = open.putIfAbsent(millis, fresh);
    if (other == null) {
      fresh.start();
    }
    // one that was not started has nothing to be closed
    ZooKeeperSession session = other == null ? fresh : other;
    if (closed) {
      // perhaps it was not there yet when the others were closed
      closes(session, () -> {});
    }
    return session;
  }

  Collection<ZooKeeperSession> all() {
    return open.values();
  }

  /** Returns how often to {@link #look}. */
  long lookEveryNanos() {
    return Math.min(LOOK_AT_MOST_NANOS, reserve.toNanos() / 8);
  }

  /**
   * Lets the servers know that all sessions live, four times in what a session outlasts a lease, looks whether they do, and
   * leaves a server that is silent if there are others; closes those that are not needed any more. Called on the timer.
   */
  void look() {
    open.forEach((millis, session) -> {
      session.look();
      long silence = ServerList.silenceMillis(millis, reserve) * 1_000_000L;
      long within = isOneOfSeveral ? Math.min(reserve.toNanos(), silence) : reserve.toNanos();
      session.touch(within / 4 - lookEveryNanos() / 2);
      if (isOneOfSeveral) {
        session.leaveIfSilent((int) (silence / lookEveryNanos()));
      }
      if (session != main && session.retire(UNUSED_NANOS)) {
        open.remove(millis, session);
        closes(session, session::closed);
      }
    });
  }

  boolean isClosed() {
    return closed;
  }

  private ZooKeeperSession make(int millis) {
    return new ZooKeeperSession(
        clients.client(millis), !clients.isGiven(), nothing, ticker, listener);
  }

  /** In whole milliseconds, which is what ZooKeeper knows: no less. */
  static long millisUp(Duration time) {
    return time.plusNanos(999_999).toMillis();
  }

  /** Rounds up, by an eighth at most. */
  private int millisFor(Duration lease) {
    int wanted = Math.max(LEAST_MILLIS, Math.toIntExact(millisUp(lease.plus(reserve))));
    int step = Math.max(1, Integer.highestOneBit(wanted) / 8);
    return (wanted + step - 1) / step * step;
  }

  /** Ends all sessions; waits for a silent server so long and no longer. */
  void close(long waitNanos) {
    closed = true;
    List<ZooKeeperSession> all = List.copyOf(open.values());
    CountDownLatch left = new CountDownLatch(all.size());
    for (ZooKeeperSession session : all) {
      closes(session, left::countDown);
    }
    boolean interrupted = Thread.interrupted();
    try {
      if (!left.await(waitNanos, TimeUnit.NANOSECONDS)) {
        LOG.log(Level.DEBUG, "the server does not confirm the end of a session; it will time out");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Ends a session; may be called twice. */
  private static void closes(ZooKeeperSession session, Runnable then) {
    Thread closes = new DaemonThread(
        () -> {
          try {
            session.close();
          } finally {
            then.run();
          }
        },
        "holdfast-zookeeper-close");
    closes.start();
  }
}
