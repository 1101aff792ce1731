// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Failovers that the sentinels of an address are asked for, as their operator does, after a while in which the replicas
 * have not followed: replication is asynchronous, and what is granted meanwhile is what a failover forgets. It is done only
 * where somebody has asked for it. Afterwards all is as it was, but that another server is the primary.
 */
final class Failovers implements AutoCloseable {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /**
   * A failover takes a second or two; a sentinel sends a former primary after the new one ten seconds later. One that has
   * stood still for two seconds trusts no clock for thirty, and does nothing meanwhile.
   */
  private static final Duration SWITCHED_WITHIN = Duration.ofSeconds(45);

  private static final Duration WELL_WITHIN = Duration.ofSeconds(60);

  private final Ticker ticker = Ticker.system();
  private final Sentinels sentinels;

  /**
   * Reads an address; nothing is contacted.
   *
   * @param uri one that {@link Sentinels#areIn} has taken
   */
  Failovers(String uri) {
    sentinels = new Sentinels(uri);
  }

  /** Says whether a failover is possible just now. */
  boolean areWell() throws IOException {
    try {
      return sentinels.areWell();
    } catch (RedisException e) {
      throw new IOException("the sentinels do not answer: " + e.getMessage(), e);
    }
  }

  /**
   * Lets the replicas fall behind, and one of them become the primary.
   *
   * @param behind by how much
   * @throws IOException if they refuse, or nothing comes of it
   */
  void failOver(Duration behind) throws IOException, InterruptedException {
    try {
      RedisURI former = sentinels.primary();
      List<RedisURI> replicas = sentinels.replicas();
      boolean done = false;
      try {
        for (RedisURI each : replicas) {
          follow(each, null);
        }
        rest(behind.toNanos());
        sentinels.failOver();
        done = await(SWITCHED_WITHIN, () -> !sentinels.primary().equals(former));
      } finally {
        if (!done) {
          // the sentinels would do it as well, later
          for (RedisURI each : replicas) {
            follow(each, former);
          }
        }
      }
      if (!done) {
        throw new IOException("the sentinels do not call another server the primary");
      }
    } catch (RedisException e) {
      throw new IOException("the failover failed: " + e.getMessage(), e);
    }
  }

  /** Waits until the former primary follows the new one. */
  void awaitWell() throws IOException, InterruptedException {
    if (!await(WELL_WITHIN, sentinels::areWell)) {
      throw new IOException("the former primary does not follow the new one");
    }
  }

  private void follow(RedisURI replica, @Nullable RedisURI primary) {
    try (StatefulRedisConnection<String, String> connection = sentinels.connect(replica)) {
      String unused = primary == null
          ? connection.sync().replicaofNoOne()
          : connection.sync().replicaof(primary.getHost(), primary.getPort());
    }
  }

  private boolean await(Duration within, BooleanSupplier what) throws InterruptedException {
    long by = ticker.nanos() + within.toNanos();
    while (!what.getAsBoolean()) {
      if (ticker.nanos() - by >= 0) {
        return false;
      }
      rest(LOOK_NANOS);
    }
    return true;
  }

  private void rest(long nanos) throws InterruptedException {
    long until = ticker.nanos() + nanos;
    for (long left = nanos; left > 0; left = until - ticker.nanos()) {
      LockSupport.parkNanos(left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  @Override
  public void close() {
    sentinels.close();
  }
}
