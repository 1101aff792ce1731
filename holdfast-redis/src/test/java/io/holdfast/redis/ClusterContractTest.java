// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on a cluster of six nodes. */
@Tag("stores")
@Tag("oldest")
class ClusterContractTest extends StoreContract {
  ClusterContractTest() {
    super("redis-cluster", ClusterUnderTest::new);
  }
}
