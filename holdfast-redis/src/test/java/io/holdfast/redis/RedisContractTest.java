// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on one Redis server that writes every change to its append-only file. */
class RedisContractTest extends StoreContract {
  RedisContractTest() {
    super("redis", RedisUnderTest::new);
  }
}
