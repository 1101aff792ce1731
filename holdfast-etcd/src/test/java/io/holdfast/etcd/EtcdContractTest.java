// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on one etcd server. */
@Tag("stores")
@Tag("oldest")
class EtcdContractTest extends StoreContract {
  EtcdContractTest() {
    super("etcd", EtcdUnderTest::new);
  }
}
