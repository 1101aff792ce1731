// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on an ensemble of three ZooKeeper servers. */
class ZooKeeperEnsembleContractTest extends StoreContract {
  ZooKeeperEnsembleContractTest() {
    super("zookeeper-3", EnsembleUnderTest::new);
  }
}
