// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.List;
import java.util.stream.Stream;

/**
 * Who takes part in the rows of a server, by name.
 *
 * @param alone one thread, a free lock
 * @param separate threads with a lock each
 * @param locks threads and processes that want one lock
 * @param growing the same, in rows of several sizes
 * @param keeping many locks kept; the last one is who ours is compared with
 */
record Contenders(
    List<String> alone,
    List<String> separate,
    List<String> locks,
    List<String> growing,
    List<String> keeping) {
  /** All locks everywhere, and the floor where nobody waits for anybody; only ours are kept. */
  static Contenders of(List<String> locks) {
    List<String> all = Stream.concat(Stream.of(Peers.FLOOR), locks.stream()).toList();
    return new Contenders(all, all, locks, locks, List.of(Peers.US));
  }

  /** Returns the same with fewer in the rows that are many: of several sizes, and of locks that are kept. */
  Contenders growing(List<String> few) {
    return new Contenders(alone, separate, locks, few, few);
  }
}
