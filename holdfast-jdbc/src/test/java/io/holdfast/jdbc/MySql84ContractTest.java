// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on MySQL 8.4, in a container. */
@Tag("stores")
class MySql84ContractTest extends StoreContract {
  MySql84ContractTest() {
    super("mysql-8.4", () -> new ContainerUnderTest(ContainerKind.MYSQL_8_4));
  }
}
