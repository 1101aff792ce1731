// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.Claim;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Where the locks are: on one server, or spread over the nodes of a cluster. */
interface RedisRoute {
  /** Connects, and completes when requests can be sent and messages come. */
  CompletionStage<@Nullable Void> connect();

  /** Runs a script where its keys are; its answer begins with that server's time. */
  CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments);

  /**
   * Runs a script where its keys are, on the connection on which replicas are waited for; only if the address asks for
   * some.
   *
   * @param counts whether an answer has to be confirmed
   */
  CompletionStage<RedisReplicas.Confirmed> runConfirmed(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments);

  /**
   * Returns what marks the channel that this client listens to where a key is, and nowhere else; null if it listens to
   * none such.
   */
  default @Nullable String tag(byte[] key) {
    return null;
  }

  /** Splits claims into those that can be in one script. */
  Collection<List<Claim>> together(List<Claim> claims);

  /** Returns the servers that have keys now. */
  List<RedisNode> nodes();

  /** Returns an estimate of the servers' clock; where there are several, of the one that is ahead. */
  Instant time();

  /** Closes all connections. */
  void close();
}
