// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("stores")
class RedisDriverTest {
  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  private final RedisDriver driver = RedisDriver.own(Duration.ofSeconds(10), null);

  @AfterEach
  void close() {
    driver.close();
  }

  /** Should a newer Lettuce make them in another way, the first connection takes half a second more. */
  @Test
  void connections_haveNoSynchronousCommands() {
    RedisURI server = RedisURI.create(SERVER.get().uri());
    List<StatefulRedisConnection<byte[], byte[]>> connections =
        List.of(Await.value(driver.commands(server)), Await.value(driver.messages(server)));
    assertThat(connections).allSatisfy(each -> {
      assertThat(each.sync()).isNull();
      assertThat(Await.value(each.async().ping())).isEqualTo("PONG");
    });
  }
}
