// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import org.junit.jupiter.api.condition.EnabledIf;

/** The contract on PostgreSQL 18, in a container. */
@EnabledIf("io.holdfast.jdbc.ContainerUnderTest#isDockerThere")
class Postgres18ContractTest extends ContainerContract {
  Postgres18ContractTest() {
    super(() -> new ContainerUnderTest(ContainerKind.POSTGRESQL_18));
  }
}
