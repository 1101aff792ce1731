// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import org.junit.jupiter.api.condition.EnabledIf;

/** The contract on MySQL 9, in a container. */
@EnabledIf("io.holdfast.jdbc.ContainerUnderTest#isDockerThere")
class MySql9ContractTest extends ContainerContract {
  MySql9ContractTest() {
    super(() -> new ContainerUnderTest(ContainerKind.MYSQL_9));
  }
}
