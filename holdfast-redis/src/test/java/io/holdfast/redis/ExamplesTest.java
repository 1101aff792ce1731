// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.RedisClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The examples in the documentation of the store on the application's own client, of the guard and of one-time tokens. */
@Tag("stores")
class ExamplesTest {
  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  /** What an application has. */
  private static final class Orders {
    final List<String> placed = new ArrayList<>();

    void place(String order) {
      placed.add(order);
    }
  }

  @SuppressWarnings("NullAway.Init")
  private RedisClient client;

  @BeforeEach
  void connect() {
    SERVER.get().call(redis -> redis.flushall());
    client = RedisClient.create(SERVER.get().uri());
  }

  @AfterEach
  void disconnect() {
    Direct.close(client);
  }

  @Test
  void storeAndGuard() throws InterruptedException {
    byte[] bytes = "12".getBytes(StandardCharsets.UTF_8);
    Holdfast holdfast = Holdfast.builder()
        .store(RedisStore.using(client))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build();
    DistributedLock lock = holdfast.lock("stock:7");
    try (RedisGuard guard = RedisGuard.using(client);
        Hold hold = lock.acquire()) {
      guard.write("stock:7", bytes, hold.token());
    }
    holdfast.close();
    String stock = SERVER.get().call(redis -> redis.get("stock:7"));
    assertThat(stock).isEqualTo("12");
  }

  @Test
  void settings() throws InterruptedException {
    RedisSettings settings = RedisSettings.builder().prefix("jobs:").build();
    RedisStore store = RedisStore.using(client, settings);
    try (Holdfast holdfast =
        Holdfast.builder().store(store).requestTimeout(Clients.REQUEST_TIMEOUT).build()) {
      holdfast.lock("nightly").run(hold -> {});
    }
    List<String> keys = SERVER.get().call(redis -> redis.keys("*"));
    assertThat(keys).contains("jobs:{nightly}");
  }

  @Test
  void redlock() {
    RedisClient one = client;
    RedisClient two = client;
    RedisClient three = client;
    RedlockStore store = RedlockStore.using(one, two, three);
    assertThat(store.describe()).isEqualTo("redlock (the application's clients)");
    store.close();
  }

  @Test
  void oneTimeTokens() throws InterruptedException {
    Orders orders = new Orders();
    String order = "a book";
    try (OneTimeTokens tokens = OneTimeTokens.using(client)) {
      String token = tokens.issue("user:42", "order", Duration.ofMinutes(10));
      if (tokens.consume(token, "user:42", "order") == OneTimeTokens.Result.ACCEPTED) {
        orders.place(order);
      }
    }
    assertThat(orders.placed).containsExactly("a book");
  }
}
