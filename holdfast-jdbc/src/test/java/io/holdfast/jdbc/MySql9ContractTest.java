// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on MySQL 9, in a container. */
@Tag("stores")
class MySql9ContractTest extends StoreContract {
  MySql9ContractTest() {
    super("mysql-9", () -> new ContainerUnderTest(ContainerKind.MYSQL_9));
  }
}
