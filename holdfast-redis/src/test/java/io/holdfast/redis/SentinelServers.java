// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Two servers, one the replica of the other, and three sentinels that watch over them. They are patient, so that a machine
 * that stands still is no reason to fail over; a test that takes the primary away tells them to notice it.
 */
final class SentinelServers implements AutoCloseable {
  private static final String NAME = "mymaster";
  private static final int SENTINELS = 3;
  private static final int QUORUM = 2;

  /** How long a server may be silent before it counts as down: usually, and when a test wants it to be noticed. */
  private static final Duration PATIENT = Duration.ofMinutes(5);

  private static final Duration IMPATIENT = Duration.ofMillis(700);

  /** For how long a failover that was asked for is gone on with: nobody begins it again. */
  private static final Duration PERSISTENT = Duration.ofMinutes(1);

  /** A sentinel that finds that it stood still for two seconds does nothing for thirty: more than one wait lasts. */
  private static final int WAITS = 5;

  private static final Duration A_WAIT = Await.PATIENCE.dividedBy(2);

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<ServerProcess> sentinels = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();
  private final String password;

  /**
   * Starts them, and waits until they know each other.
   *
   * @param password what the sentinels ask for; empty for nothing
   */
  SentinelServers(String password) {
    this.password = password;
    RedisServer first = RedisServer.with(
        "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0");
    servers.add(first);
    String port = Integer.toString(first.port());
    RedisServer second = RedisServer.with(
        "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1", port);
    servers.add(second);
    first.awaitReplica(second);
    for (int i = 0; i < SENTINELS; i++) {
      ports.add(ServerProcess.freePort());
      sentinels.add(ServerProcess.of("redis-server"));
      startSentinel(i);
    }
    awaitWhole();
  }

  private void startSentinel(int index) {
    ServerProcess process = sentinels.get(index);
    List<String> lines = new ArrayList<>(List.of(
        "port " + ports.get(index),
        "bind 127.0.0.1",
        "dir " + process.folder(),
        "sentinel monitor " + NAME + " 127.0.0.1 " + servers.get(0).port() + " " + QUORUM,
        "sentinel down-after-milliseconds " + NAME + " " + PATIENT.toMillis(),
        "sentinel failover-timeout " + NAME + " 2000"));
    if (!password.isEmpty()) {
      lines.add("requirepass " + password);
      lines.add("sentinel sentinel-pass " + password);
    }
    Path file = process.folder().resolve("sentinel.conf");
    try {
      Files.write(file, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    process.start(List.of(file.toString(), "--sentinel"));
  }

  /** Waits until a failover is possible: all sentinels know each other, the primary, and its replica in good health. */
  void awaitWhole() {
    for (int i = 0; i < SENTINELS; i++) {
      int index = i;
      Await.until("sentinel " + index + " knows all", () -> isWhole(index));
    }
  }

  private boolean isWhole(int index) {
    return says(index, sentinel -> {
      Map<String, String> primary = sentinel.master(NAME);
      List<Map<String, String>> replicas = sentinel.replicas(NAME);
      return "master".equals(primary.get("flags"))
          && Integer.toString(SENTINELS - 1).equals(primary.get("num-other-sentinels"))
          && replicas.stream()
              .anyMatch(each ->
                  "slave".equals(each.get("flags")) && "ok".equals(each.get("master-link-status")));
    });
  }

  String uri() {
    return uri(ports);
  }

  List<Integer> ports() {
    return ports;
  }

  /** Returns an address whose sentinels are behind other ports. */
  String uri(List<Integer> behind) {
    StringBuilder uri = new StringBuilder("redis-sentinel://");
    for (int i = 0; i < SENTINELS; i++) {
      uri.append(i == 0 ? "" : ",").append("127.0.0.1:").append(behind.get(i));
    }
    uri.append('/').append(NAME);
    return password.isEmpty()
        ? uri.toString()
        : uri.append("?holdfast.sentinel-password=").append(password).toString();
  }

  /** Returns the server that the sentinels call the primary. */
  RedisServer primary() {
    int port =
        ask(0, sentinel -> ((InetSocketAddress) sentinel.getMasterAddrByName(NAME)).getPort());
    return servers.stream().filter(each -> each.port() == port).findFirst().orElseThrow();
  }

  RedisServer other(RedisServer server) {
    return servers.get(0).equals(server) ? servers.get(1) : servers.get(0);
  }

  /** Asks for a failover, as an operator does: until one begins, or has been. */
  void failover() {
    RedisServer former = primary();
    set(0, "failover-timeout", PERSISTENT);
    Await.until("a failover begins", () -> primary().port() != former.port() || beginsFailover());
  }

  private boolean beginsFailover() {
    try {
      return "OK".equals(ask(0, sentinel -> sentinel.failover(NAME)));
    } catch (RedisCommandExecutionException e) {
      // it may also say that it knows no good replica, if it has not heard of it for a while
      return String.valueOf(e.getMessage()).startsWith("INPROG");
    }
  }

  /** Waits until all sentinels call another server the primary, which they were asked for. */
  void awaitPrimaryIsNot(RedisServer former) {
    for (int i = 0; i < SENTINELS; i++) {
      int index = i;
      awaitLong(
          "sentinel " + index + " knows the new primary",
          () -> says(
              index,
              sentinel -> ((InetSocketAddress) sentinel.getMasterAddrByName(NAME)).getPort()
                  != former.port()));
    }
  }

  /** Waits until all sentinels have noticed that the primary is down, as it is by now, and call the other one the primary. */
  void awaitFailoverFrom(RedisServer down) {
    noticeAfter(IMPATIENT);
    try {
      awaitPrimaryIsNot(down);
    } finally {
      noticeAfter(PATIENT);
    }
  }

  private void noticeAfter(Duration silence) {
    for (int i = 0; i < SENTINELS; i++) {
      set(i, "down-after-milliseconds", silence);
    }
  }

  private void set(int index, String option, Duration time) {
    String millis = Long.toString(time.toMillis());
    Await.until(
        "sentinel " + index + " is told",
        () -> says(index, sentinel -> "OK".equals(sentinel.set(NAME, option, millis))));
  }

  /** Waits for what a sentinel does by itself, perhaps after a standstill only. What the condition throws ends it. */
  static void awaitLong(String what, BooleanSupplier condition) {
    AtomicBoolean seen = new AtomicBoolean();
    for (int i = 1; i < WAITS && !seen.get(); i++) {
      long begin = System.nanoTime();
      Await.until(what, () -> {
        seen.set(condition.getAsBoolean());
        return seen.get() || System.nanoTime() - begin > A_WAIT.toNanos();
      });
    }
    if (!seen.get()) {
      Await.until(what, condition);
    }
  }

  /** Asks what is waited for: a sentinel that is not there yet, or has just closed the connection, has not said it. */
  private boolean says(int index, Predicate<RedisSentinelCommands<String, String>> what) {
    try {
      return ask(index, what::test);
    } catch (RedisException e) {
      return false;
    }
  }

  private <T> T ask(int index, Function<RedisSentinelCommands<String, String>, T> what) {
    RedisURI.Builder uri = RedisURI.builder().withHost("127.0.0.1").withPort(ports.get(index));
    if (!password.isEmpty()) {
      uri.withPassword(password.toCharArray());
    }
    try (var connection = Direct.asking().connectSentinel(uri.build())) {
      return what.apply(connection.sync());
    }
  }

  @Override
  public void close() {
    sentinels.forEach(ServerProcess::close);
    servers.forEach(RedisServer::close);
  }
}
