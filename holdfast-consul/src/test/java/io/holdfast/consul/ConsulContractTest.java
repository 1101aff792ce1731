// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on one Consul server. */
@Tag("stores")
class ConsulContractTest extends StoreContract {
  ConsulContractTest() {
    super("consul", ConsulUnderTest::new);
  }
}
