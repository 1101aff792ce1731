// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on one Redis server that writes every change to its append-only file. */
@Tag("stores")
@Tag("oldest")
class RedisContractTest extends StoreContract {
  RedisContractTest() {
    super("redis", RedisUnderTest::redis);
  }
}
