// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on an etcd cluster of three. */
class EtcdClusterContractTest extends StoreContract {
  EtcdClusterContractTest() {
    super("etcd-cluster", EtcdClusterUnderTest::new);
  }
}
