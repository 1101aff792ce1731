// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Whoever still wants a connection when the store has been closed gets none, and leaves no threads behind. */
class ClosedClientTest {
  private static final RedisURI NOWHERE = RedisURI.create("redis://127.0.0.1:1");
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void ownClient_closed_opensNothing() {
    OwnRedisClient client = new OwnRedisClient(NOWHERE, null, SECOND);
    client.close();
    assertRefused(client.commands());
    assertRefused(client.messages());
  }

  @Test
  void clientOfRedlockNodes_closedByTheLast_opensNothing() {
    RedlockClient client = new RedlockClient(SECOND, null);
    RedisConnector one = client.to(NOWHERE);
    RedisConnector other = client.to(NOWHERE);
    one.close();
    other.close();
    assertRefused(one.commands());
    assertRefused(other.messages());
  }

  private static void assertRefused(CompletionStage<?> stage) {
    assertThat(stage.toCompletableFuture())
        .isCompletedExceptionally()
        .failsWithin(SECOND)
        .withThrowableThat()
        .withMessageContaining("closed");
  }
}
