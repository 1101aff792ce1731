// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on one Valkey server that writes every change to its append-only file. */
@Tag("stores")
class ValkeyContractTest extends StoreContract {
  ValkeyContractTest() {
    super("valkey", RedisUnderTest::valkey);
  }
}
