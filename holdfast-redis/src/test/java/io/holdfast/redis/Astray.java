// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

/** Hears of a connection only that it leads astray. */
record Astray(Runnable then) implements RedisNode.Listener {
  @Override
  public void up() {}

  @Override
  public void down() {}

  @Override
  public void astray() {
    then.run();
  }
}
