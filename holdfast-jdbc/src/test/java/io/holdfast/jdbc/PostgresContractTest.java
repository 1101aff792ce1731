// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.sql.SqlKind;
import org.junit.jupiter.api.Tag;

/** The contract on PostgreSQL, whose every commit is on disk. */
@Tag("stores")
@Tag("oldest")
class PostgresContractTest extends StoreContract {
  PostgresContractTest() {
    super("postgresql", () -> new SqlUnderTest(SqlKind.POSTGRESQL));
  }
}
