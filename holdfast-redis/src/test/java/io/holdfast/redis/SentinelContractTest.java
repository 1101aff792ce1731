// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on a primary that is found by asking sentinels. */
class SentinelContractTest extends StoreContract {
  SentinelContractTest() {
    super("redis-sentinel", SentinelUnderTest::new);
  }
}
