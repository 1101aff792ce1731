// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.measure.Contention;

/** Ourselves. */
final class HoldfastPeer implements Peer {
  private static final int ATTEMPTS = 5;

  private final Holdfast holdfast;

  HoldfastPeer(String uri) {
    holdfast = connect(uri, ATTEMPTS);
  }

  /** The first contact of a JVM that has just begun may take longer than its time-out, where five begin at once. */
  private static Holdfast connect(String uri, int attempts) {
    try {
      return Holdfast.connect(uri);
    } catch (StoreUnavailableException e) {
      if (attempts == 1) {
        throw e;
      }
      return connect(uri, attempts - 1);
    }
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
