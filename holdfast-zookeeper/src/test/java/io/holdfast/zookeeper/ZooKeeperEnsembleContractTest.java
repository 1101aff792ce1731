// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on an ensemble of three ZooKeeper servers. */
@Tag("stores")
class ZooKeeperEnsembleContractTest extends StoreContract {
  ZooKeeperEnsembleContractTest() {
    super("zookeeper-3", EnsembleUnderTest::new);
  }
}
