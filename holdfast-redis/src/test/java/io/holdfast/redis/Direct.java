// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The driver's clients that tests use themselves, past the store. */
final class Direct {
  private static final long PATIENCE_SECONDS = 2;

  /** One for all questions; it does not reconnect, and lives as long as this JVM. */
  private static final RedisClient ASKING = RedisClient.create();

  static {
    ASKING.setOptions(ClientOptions.builder().autoReconnect(false).build());
  }

  private Direct() {}

  /** Returns the client for single questions. Its connections are to be closed, it is not. */
  static RedisClient asking() {
    return ASKING;
  }

  /**
   * Lets go of a client. The driver's own way to wait for that has no end when a server closes the connection in the same
   * moment, so that it is not waited for here for long.
   */
  static void close(AbstractRedisClient client) {
    try {
      client.shutdownAsync(0, 1, TimeUnit.SECONDS).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      // its connections are closed; what else the driver waits for is not ours
      return;
    } catch (ExecutionException e) {
      throw new AssertionError("the driver could not let go of a client", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
