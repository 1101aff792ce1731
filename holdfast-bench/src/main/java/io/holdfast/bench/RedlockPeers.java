// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** Who is measured on several Redis servers that know nothing of each other. */
final class RedlockPeers extends Peers {
  RedlockPeers(RedisServers nodes) {
    String uri = nodes.redlockUri();
    add(FLOOR, () -> new PlainRedlock(nodes.uris()));
    add(US, () -> new HoldfastPeer(uri));
  }
}
