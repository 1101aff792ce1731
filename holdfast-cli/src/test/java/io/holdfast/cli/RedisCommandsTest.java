// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.Tunnel;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code holdfast} with {@code --store redis...://}, in processes of its own, on real servers. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class RedisCommandsTest {
  @RegisterExtension
  final Processes processes = new Processes();

  private Commands commands(RedisTopology redis) {
    return new Commands(processes, redis.uri());
  }

  @ParameterizedTest
  @EnumSource
  void jobs_takeTurns(RedisTopology topology) {
    commands(topology).jobsTakeTurns();
  }

  @ParameterizedTest
  @EnumSource(names = {"SINGLE", "REDLOCK"})
  void kill_ofTheHolder_freesTheLockAfterItsLease(RedisTopology topology) {
    commands(topology).killFreesTheLockAfterTheLease();
  }

  @ParameterizedTest
  @EnumSource
  void doctor_tellsWhatTheServersDo(RedisTopology topology) {
    assertThat(commands(topology).healthy())
        .contains("ok       connection: ")
        .contains(
            topology == RedisTopology.REDLOCK
                ? "ok       majority: "
                : "no append-only file: a restart forgets locks");
  }

  /**
   * A lock that was handed over has five seconds until its first renewal, and not its lease: what is left of it counts. No
   * request of the second holder gets through any more when it is handed the lock, so that it is never renewed; and its command
   * kills holdfast first, so that only the watcher can end the command.
   */
  @Test
  void killed_beforeTheFirstRenewal_theNextBeginsWhenTheCommandHasEnded() {
    processes.use("redis");
    int round = 0;
    while (!isKilledBeforeTheFirstRenewal("lock" + round)) {
      round++;
      assertThat(round).as("rounds that came too late to show anything").isLessThan(4);
    }
  }

  /** False if the waiters were not heard of for so long that they may have lost their places, or most of their leases. */
  private boolean isKilledBeforeTheFirstRenewal(String lock) {
    String[] store = processes.store().split("[?]", -1);
    Job second;
    Job third;
    boolean isInTime;
    try (Tunnel tunnel = new Tunnel(URI.create(store[0]).getPort())) {
      String waits = "echo $$ >L.pid; until [ -e L.go ]; do sleep 0.05; done".replace("L", lock);
      Job first = processes.holdfast("run", lock, "sh", "-c", waits);
      processes.pid(lock + ".pid");
      String trapped = "trap '' TERM; " + Processes.HOLDFAST_OF_COMMAND
          + "; kill -s KILL $holdfast; while :; do echo trapped >>" + lock
          + ".log; sleep 0.02; done";
      second = processes.holdfast(
          Map.of("HOLDFAST_STORE", "redis://127.0.0.1:" + tunnel.port() + "?" + store[1]),
          "run",
          "--fair",
          lock,
          "sh",
          "-c",
          trapped);
      awaitWaiters(lock, 1);
      third = processes.holdfast(
          "run", "--fair", lock, "sh", "-c", "echo next >>" + lock + ".log; sleep 1");
      awaitWaiters(lock, 2);
      long before = Ticker.system().nanos();
      tunnel.stallRequests();
      processes.touch(lock + ".go");
      assertThat(first.exitCode()).as(first::toString).isZero();
      isInTime = Ticker.system().nanos() - before < Duration.ofMillis(1500).toNanos();
      if (isInTime) {
        assertThat(second.exitCode()).as(second::toString).isEqualTo(137);
        assertThat(third.exitCode()).as(processes::everything).isZero();
        assertThat(processes.read(lock + ".log").lines()).contains("trapped").endsWith("next");
      }
    }
    // once the tunnel is closed
    second.exitCode();
    third.exitCode();
    return isInTime;
  }

  private void awaitWaiters(String lock, int count) {
    Await.until(
        count + " wait",
        () -> processes.answered("show", "--json", lock).stdout().contains("\"waiters\": " + count),
        processes::everything);
  }

  @Test
  void run_withoutAServer_is69() {
    new Commands(processes, "redis://:secret@127.0.0.1:" + ServerProcess.freePort())
        .nobodyThere("secret");
  }
}
