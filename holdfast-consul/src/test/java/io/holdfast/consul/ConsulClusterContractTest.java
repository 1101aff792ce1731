// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on a Consul cluster of three. */
@Tag("stores")
class ConsulClusterContractTest extends StoreContract {
  ConsulClusterContractTest() {
    super("consul-cluster", ConsulClusterUnderTest::new);
  }
}
