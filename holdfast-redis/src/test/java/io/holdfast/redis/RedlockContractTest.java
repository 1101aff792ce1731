// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on three independent Redis servers, without what only a store with an order can do. */
@Tag("stores")
@Tag("oldest")
class RedlockContractTest extends StoreContract {
  RedlockContractTest() {
    super("redlock", RedlockUnderTest::new);
  }
}
