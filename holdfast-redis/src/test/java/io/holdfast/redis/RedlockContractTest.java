// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on three independent Redis servers, without what only a store with an order can do. */
class RedlockContractTest extends StoreContract {
  RedlockContractTest() {
    super("redlock", RedlockUnderTest::new);
  }
}
