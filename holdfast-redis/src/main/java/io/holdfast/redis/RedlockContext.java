// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the parts of a Redlock store share.
 *
 * @param store the store, for people
 * @param runtime what the engine lends
 * @param rule what all agree on
 * @param nodes the nodes, in the address's order
 * @param waits who waits
 */
record RedlockContext(
    String store,
    StoreRuntime runtime,
    RedlockRule rule,
    List<RedlockNode> nodes,
    RedlockWaits waits) {
  /** Returns what the clocks of the nodes read, in microseconds; ours, if no node was ever heard of. */
  long[] clocks() {
    long[] heard = nodes.stream()
        .map(RedlockNode::clock)
        .flatMapToLong(OptionalLong::stream)
        .toArray();
    return heard.length > 0 ? heard : new long[] {runtime.ticker().wallMillis() * 1000};
  }
}
