// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Holdfast;

/** Ourselves. */
final class HoldfastPeer implements Peer {
  private final Holdfast holdfast;

  HoldfastPeer(String uri) {
    holdfast = Holdfast.connect(uri);
  }

  @Override
  public Contention.Guard lock(String name) {
    return Contention.of(holdfast.lock(name));
  }

  @Override
  public Held hold(String name) {
    return holdfast.lock(name).acquireAsync().join()::isValid;
  }

  @Override
  public void close() {
    holdfast.close();
  }
}
