// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on one ZooKeeper server. */
class ZooKeeperContractTest extends StoreContract {
  ZooKeeperContractTest() {
    super("zookeeper", ZooKeeperUnderTest::new);
  }
}
