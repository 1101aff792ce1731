// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a new connection for commands is asked before it counts as up. */
final class FirstQuestion {
  final RedisScript script;
  final Supplier<byte @Nullable [][]> keys;
  final byte[][] arguments;
  final Consumer<List<Object>> hears;

  /**
   * Makes one.
   *
   * @param keys keys that no lock has; null if the server would send any key elsewhere: it is only asked for the time
   * @param hears is given the answer, if it came in time, just before the connection counts as up
   */
  FirstQuestion(
      RedisScript script,
      Supplier<byte @Nullable [][]> keys,
      byte[][] arguments,
      Consumer<List<Object>> hears) {
    this.script = script;
    this.keys = keys;
    this.arguments = arguments;
    this.hears = hears;
  }

  /** Returns the one that every server is asked which has locks to itself: whether it lets us do what locks need. */
  static FirstQuestion check(Supplier<byte @Nullable [][]> keys, byte[] channel) {
    return new FirstQuestion(RedisScript.CHECK, keys, new byte[][] {channel}, answer -> {});
  }
}
