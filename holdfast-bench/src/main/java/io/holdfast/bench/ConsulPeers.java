// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** Who is measured on a Consul server. There is no other lock of Java's for it. */
final class ConsulPeers extends Peers {
  static final String QUERY = "floor: a write and a blocking query";

  ConsulPeers(String uri) {
    add(FLOOR, () -> new PlainConsul(uri));
    add(US, () -> new HoldfastPeer(uri));
    add(QUERY, () -> new QueryConsul(uri));
  }
}
