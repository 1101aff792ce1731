// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.net.URI;

/** Who is measured on an etcd server. */
final class EtcdPeers extends Peers {
  static final String JETCD = "jetcd's lock";

  EtcdPeers(String uri) {
    URI endpoint = URI.create(uri.replaceFirst("^etcd:", "http:"));
    add(FLOOR, () -> new PlainEtcd(endpoint));
    add(US, () -> new HoldfastPeer(uri));
    add(JETCD, () -> new JetcdPeer(endpoint));
  }
}
