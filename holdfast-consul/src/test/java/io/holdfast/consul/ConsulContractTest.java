// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on one Consul server. */
class ConsulContractTest extends StoreContract {
  ConsulContractTest() {
    super("consul", ConsulUnderTest::new);
  }
}
