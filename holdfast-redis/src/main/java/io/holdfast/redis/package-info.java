// SPDX-License-Identifier: Apache-2.0
/** Locks kept in Redis: {@link io.holdfast.redis.RedisStore}. */
@NullMarked
package io.holdfast.redis;

import org.jspecify.annotations.NullMarked;
