// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on an etcd cluster of three. */
@Tag("stores")
@Tag("oldest")
class EtcdClusterContractTest extends StoreContract {
  EtcdClusterContractTest() {
    super("etcd-cluster", EtcdClusterUnderTest::new);
  }
}
