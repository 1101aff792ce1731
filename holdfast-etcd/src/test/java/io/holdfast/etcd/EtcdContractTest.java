// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on one etcd server. */
class EtcdContractTest extends StoreContract {
  EtcdContractTest() {
    super("etcd", EtcdUnderTest::new);
  }
}
