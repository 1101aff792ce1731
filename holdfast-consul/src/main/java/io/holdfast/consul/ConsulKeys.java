// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.LockKey;

/**
 * The keys in Consul: the prefix, and {@code lock:}, {@code wanted:} and the lock's name as {@link LockKey#fit} makes it, or
 * {@code epoch:} and a session. The server takes slashes and dots for parts of a path; so no name is a part by itself. The
 * mapping is part of the stored format.
 */
final class ConsulKeys {
  private static final int MOST = 128;

  private final String prefix;

  ConsulKeys(String prefix) {
    this.prefix = prefix;
  }

  /** Who has the lock. */
  String lock(LockKey name) {
    return locks() + name.fit(MOST);
  }

  /** That somebody waits for the lock. */
  String wanted(LockKey name) {
    return words() + name.fit(MOST);
  }

  /** What the keys that say that somebody waits begin with. */
  String words() {
    return prefix + "wanted:";
  }

  /** How often the attempts under a session were called off: when this key was changed last. */
  String epoch(String session) {
    return prefix + "epoch:" + session;
  }

  /** What the keys of all locks begin with. */
  String locks() {
    return prefix + "lock:";
  }
}
