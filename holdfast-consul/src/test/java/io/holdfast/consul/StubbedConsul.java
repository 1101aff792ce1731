// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Stub agents of the same servers, and stores on them that a test drives itself, in the engine's place. */
final class StubbedConsul implements AfterEachCallback {
  static final LockKey JOB = LockKey.of("job");

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  final StubServers servers = new StubServers();
  final StubAgent agent = anotherAgent();
  final RecordingStart engine = new RecordingStart();
  final StillTicker ticker = new StillTicker();

  /** Ends the stores before the agents. */
  @Override
  public void afterEach(ExtensionContext test) throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  StubAgent anotherAgent() {
    StubAgent another = new StubAgent(servers);
    open.push(another);
    return another;
  }

  /** Makes a store that is not started yet. */
  ConsulStore store(String endpointsAndParameters) {
    ConsulStore store = ConsulStore.at(address(endpointsAndParameters));
    open.push(store);
    return store;
  }

  /** Makes what a store on the agent consists of, without the store. */
  ConsulContext context(StoreRuntime runtime) {
    ConsulAddress address = new ConsulAddress(address(agent.endpoint()));
    ConsulCalls calls = new ConsulCalls("stub", address, runtime.requestTimeout(), engine);
    return new ConsulContext(calls, address.settings(), runtime, engine);
  }

  private static StoreAddress address(String endpointsAndParameters) {
    return StoreAddress.parse("consul://" + endpointsAndParameters);
  }

  /** With clocks that only the test moves, and a timer that never comes. */
  StoreRuntime still() {
    return engine.runtime(ticker, (task, delay) -> () -> {});
  }

  Claim claim(Duration lease) {
    return engine.claim(JOB, lease);
  }

  static Kept keep(ConsulStore store, Claim claim) {
    return Await.value(store.keep(List.of(claim))).getOrDefault(claim.id(), new Kept.Unknown());
  }

  /** Waits as a server that hangs does, though not for ever. */
  static void hang(CountDownLatch until) {
    hang(until, Duration.ofMinutes(1));
  }

  static void hang(CountDownLatch until, Duration most) {
    try {
      until.await(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
