// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on a cluster of six nodes. */
class ClusterContractTest extends StoreContract {
  ClusterContractTest() {
    super("redis-cluster", ClusterUnderTest::new);
  }
}
