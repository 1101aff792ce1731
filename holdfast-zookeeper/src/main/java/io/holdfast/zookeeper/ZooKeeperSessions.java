// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The sessions of one store: one for each length of lease, opened when it is first needed, because a dead holder's lock ends with
 * the session. Lengths are rounded up to a few steps, so that there are few of them. On an application's own framework there is one for all.
 */
final class ZooKeeperSessions {
  private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");
  private static final int LEAST_MILLIS = 1000;

  private final ZooKeeperClients clients;
  private final Duration reserve;
  private final Ticker ticker;
  private final ZooKeeperSession.Listener listener;
  private final Map<Integer, ZooKeeperSession> open = new ConcurrentHashMap<>();
  private final ZooKeeperSession main;
  private volatile boolean closed;

  /**
   * Makes the sessions, and opens none.
   *
   * @param clients makes the frameworks
   * @param longest the longest lease
   * @param reserve by how much a session must outlast a lease
   * @param ticker the local clocks
   * @param listener who hears of the connections
   */
  ZooKeeperSessions(
      ZooKeeperClients clients,
      Duration longest,
      Duration reserve,
      Ticker ticker,
      ZooKeeperSession.Listener listener) {
    this.clients = clients;
    this.reserve = reserve;
    this.ticker = ticker;
    this.listener = listener;
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

  /** Returns the session for a lease; it may not be connected yet. */
  ZooKeeperSession forLease(Duration lease) {
    if (clients.isGiven()) {
      return main;
    }
    int millis = millisFor(lease);
    ZooKeeperSession there = open.get(millis);
    if (there != null || closed) {
      return there == null ? main : there;
    }
    return open.computeIfAbsent(millis, length -> {
      ZooKeeperSession fresh = make(length);
      fresh.start();
      return fresh;
    });
  }

  Collection<ZooKeeperSession> all() {
    return open.values();
  }

  private ZooKeeperSession make(int millis) {
    return new ZooKeeperSession(clients.client(millis), !clients.isGiven(), ticker, listener);
  }

  /** Rounds up, by an eighth at most. */
  private int millisFor(Duration lease) {
    int wanted = Math.max(LEAST_MILLIS, Math.toIntExact(lease.plus(reserve).toMillis()));
    int step = Math.max(1, Integer.highestOneBit(wanted) / 8);
    return (wanted + step - 1) / step * step;
  }

  /** Ends all sessions; waits for a silent server so long and no longer. */
  void close(long waitNanos) {
    closed = true;
    CountDownLatch left = new CountDownLatch(open.size());
    for (ZooKeeperSession session : open.values()) {
      Thread closes = new Thread(
          () -> {
            try {
              session.close();
            } finally {
              left.countDown();
            }
          },
          "holdfast-zookeeper-close");
      closes.setDaemon(true);
      closes.start();
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
}
