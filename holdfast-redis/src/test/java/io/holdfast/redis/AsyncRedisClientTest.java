// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AsyncRedisClientTest {
  private final ClientResources resources = ClientResources.create();

  @AfterEach
  void shutDown() {
    var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
  }

  /** A version of the driver that makes them in another way would be half a second slower to connect. */
  @Test
  void connections_haveNoSynchronousCommands() {
    AsyncRedisClient client = new AsyncRedisClient(resources);
    PubSubEndpoint<byte[], byte[]> endpoint =
        new PubSubEndpoint<>(ClientOptions.create(), resources);
    List<StatefulRedisConnection<byte[], byte[]>> connections = List.of(
        client.newStatefulRedisConnection(
            endpoint, endpoint, ByteArrayCodec.INSTANCE, Duration.ofSeconds(1)),
        client.newStatefulRedisPubSubConnection(
            endpoint, endpoint, ByteArrayCodec.INSTANCE, Duration.ofSeconds(1)));
    assertThat(connections).allSatisfy(each -> {
      assertThat(each.sync()).isNull();
      assertThat(each.async()).isNotNull();
    });
  }
}
