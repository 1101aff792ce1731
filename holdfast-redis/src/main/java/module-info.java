// SPDX-License-Identifier: Apache-2.0
/** Locks kept in Redis. */
module io.holdfast.redis {
  requires static org.jspecify;
  requires transitive io.holdfast.core;
  requires transitive lettuce.core;
  requires io.netty.buffer;
  requires io.netty.handler;
  requires io.netty.transport;

  exports io.holdfast.redis;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.redis.RedisStoreFactory;
}
