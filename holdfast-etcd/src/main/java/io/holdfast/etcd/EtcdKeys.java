// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The keys in etcd: the prefix, {@code lock/}, the lock's name, a tab, and the client with a number, see
 * {@link EtcdSeats}. A name has no control characters, so that the tab ends it and the keys are sorted as the names
 * are. Beside them {@code epoch/} and a lease's number. The mapping is part of the stored format.
 */
final class EtcdKeys {
  private static final byte END = '\t';

  private final String prefix;
  private final byte[] locks;
  private final String epochs;

  EtcdKeys(String prefix) {
    this.prefix = prefix;
    locks = utf8(prefix + "lock/");
    epochs = prefix + "epoch/";
  }

  /**
   * Where a key belongs.
   *
   * @param name the lock
   * @param claim the client and the key's number, which are written as a claim's id is
   */
  record Place(LockKey name, ClaimId claim) {}

  /** What all keys begin with. */
  String prefix() {
    return prefix;
  }

  /** What all claims of a lock begin with. */
  ByteSequence queue(LockKey name) {
    byte[] bytes = name.bytes();
    byte[] key = Arrays.copyOf(locks, locks.length + bytes.length + 1);
    System.arraycopy(bytes, 0, key, locks.length, bytes.length);
    key[key.length - 1] = END;
    return ByteSequence.from(key);
  }

  ByteSequence claim(LockKey name, ClaimId id) {
    return queue(name).concat(ByteSequence.from(id.toString(), StandardCharsets.UTF_8));
  }

  /** What all locks begin with whose names begin so. */
  ByteSequence under(String namePrefix) {
    byte[] bytes = utf8(namePrefix);
    byte[] key = Arrays.copyOf(locks, locks.length + bytes.length);
    System.arraycopy(bytes, 0, key, locks.length, bytes.length);
    return ByteSequence.from(key);
  }

  /** The number of times that the attempts under a lease were called off: the version of this key. */
  ByteSequence epoch(long lease) {
    return ByteSequence.from(epochs + Long.toHexString(lease), StandardCharsets.UTF_8);
  }

  /** Returns where a key belongs; empty if it is something else. */
  Optional<Place> place(ByteSequence key) {
    return name(key).flatMap(name -> {
      int begin = locks.length + name.bytes().length + 1;
      byte[] bytes = key.getBytes();
      String claim = new String(bytes, begin, bytes.length - begin, StandardCharsets.UTF_8);
      try {
        return Optional.of(new Place(name, ClaimId.parse(claim)));
      } catch (IllegalArgumentException e) {
        // another program's key
        return Optional.empty();
      }
    });
  }

  /** Returns the lock in whose queue a key is, a claim's or another one; empty if it is in none. */
  Optional<LockKey> name(ByteSequence key) {
    byte[] bytes = key.getBytes();
    if (!Arrays.equals(bytes, 0, Math.min(bytes.length, locks.length), locks, 0, locks.length)) {
      return Optional.empty();
    }
    int end = locks.length;
    while (end < bytes.length && bytes[end] != END) {
      end++;
    }
    if (end == bytes.length) {
      return Optional.empty();
    }
    String text = new String(bytes, locks.length, end - locks.length, StandardCharsets.UTF_8);
    try {
      LockKey name = LockKey.of(text);
      // what is no UTF-8 was replaced
      return key.startsWith(queue(name)) ? Optional.of(name) : Optional.empty();
    } catch (IllegalArgumentException e) {
      // no lock has such a name
      return Optional.empty();
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
