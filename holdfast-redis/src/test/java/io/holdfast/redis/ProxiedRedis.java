// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server for the tests of a class, a proxy for each test, clients that go through it and clients that do not. */
final class ProxiedRedis
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
  /** Long enough that only a request or a message can be what a test sees. */
  static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  /** How long a client through the proxy waits for an answer. */
  static final Duration TIMEOUT = Duration.ofMillis(500);

  /** The same where there is to be one, however slow the machine. */
  static final Duration PATIENT = Duration.ofSeconds(5);

  private final Deque<AutoCloseable> openForAll = new ArrayDeque<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private RedisServer server;

  @SuppressWarnings("NullAway.Init")
  private StatefulRedisConnection<String, String> connection;

  @SuppressWarnings("NullAway.Init")
  private RespProxy proxy;

  @Override
  public void beforeAll(ExtensionContext context) {
    server = RedisServer.forgetful();
    openForAll.push(server);
    RedisClient past = RedisClient.create(server.uri());
    openForAll.push(() -> Direct.close(past));
    connection = past.connect();
    openForAll.push(connection);
    // what a test names is not sent twice because the server does not know it yet
    for (RedisScript each : RedisScript.values()) {
      redis().scriptLoad(each.text());
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    proxy = new RespProxy(server.port());
    open.push(proxy);
    events.clear();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    proxy.mend();
    close(open);
    redis().flushall();
  }

  private static void close(Deque<AutoCloseable> opened) throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    close(openForAll);
  }

  RespProxy proxy() {
    return proxy;
  }

  /** Returns the server's folder. */
  Path folder() {
    return server.folder();
  }

  /** Asks the server, past the proxy and the store. */
  RedisCommands<String, String> redis() {
    return connection.sync();
  }

  /** Makes a client that goes through the proxy, and that is connected. */
  Holdfast through() {
    return through(TIMEOUT);
  }

  Holdfast through(Duration requestTimeout) {
    Holdfast client = connected(Clients.build(() -> Holdfast.builder()
        .store(proxy.uri())
        .requestTimeout(requestTimeout)
        .listener(events::add)));
    events.clear();
    return client;
  }

  /** Makes a client that does not go through the proxy. */
  Holdfast direct() {
    return connected(Clients.connect(server.uri()));
  }

  private Holdfast connected(Holdfast client) {
    open.push(client);
    assertThat(client.admin().inspect("other")).isEmpty();
    return client;
  }

  /** How many such events the clients through the proxy have told. */
  long told(Class<? extends LockEvent> kind) {
    return events.stream().filter(kind::isInstance).count();
  }

  void assertHeldBy(Hold hold) {
    assertThat(hold.isValid()).isTrue();
    assertThat(RedisRecord.of(redis(), "x").claim()).isNotEmpty();
    assertThat(revision()).isEqualTo(hold.token() >> 8);
  }

  long revision() {
    return RedisRecord.of(redis(), "x").revision();
  }

  /** Releases, however often that takes. */
  static void release(Hold hold) {
    Await.until("it is released", () -> {
      try {
        return hold.release() || hold.state() == HoldState.RELEASED;
      } catch (StoreUnavailableException e) {
        return hold.state() == HoldState.RELEASED;
      }
    });
  }

  void awaitFree() {
    Await.until("nobody has it", () -> RedisRecord.of(redis(), "x").claim().isEmpty());
  }

  /** Nobody has the lock or waits for it, and the next token is greater. */
  void assertNothingIsLeft(Hold after) throws InterruptedException {
    awaitFree();
    assertThat(redis().zcard("holdfast:{x}:q")).isZero();
    assertThat(redis().hlen("holdfast:{x}:w")).isZero();
    Hold next = direct().lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(next.token()).isGreaterThan(after.token());
    assertThat(next.release()).isTrue();
  }

  void awaitWaiters(int count) {
    Await.until(count + " wait", () -> redis().zcard("holdfast:{x}:q") == count);
  }

  long micros() {
    List<String> time = redis().time();
    return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
  }
}
