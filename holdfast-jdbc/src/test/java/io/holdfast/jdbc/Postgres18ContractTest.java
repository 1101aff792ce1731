// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;
import org.junit.jupiter.api.Tag;

/** The contract on PostgreSQL 18, in a container. */
@Tag("stores")
class Postgres18ContractTest extends StoreContract {
  Postgres18ContractTest() {
    super("postgresql-18", () -> new ContainerUnderTest(ContainerKind.POSTGRESQL_18));
  }
}
