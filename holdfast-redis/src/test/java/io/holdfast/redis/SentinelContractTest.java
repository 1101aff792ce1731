// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on a primary that is found by asking sentinels. */
@Tag("stores")
@Tag("oldest")
class SentinelContractTest extends StoreContract {
  SentinelContractTest() {
    super("redis-sentinel", SentinelUnderTest::new);
  }
}
