// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import org.junit.jupiter.api.condition.EnabledIf;

/** The contract on MySQL 8.4, in a container. */
@EnabledIf("io.holdfast.jdbc.ContainerUnderTest#isDockerThere")
class MySql84ContractTest extends ContainerContract {
  MySql84ContractTest() {
    super(() -> new ContainerUnderTest(ContainerKind.MYSQL_8_4));
  }
}
