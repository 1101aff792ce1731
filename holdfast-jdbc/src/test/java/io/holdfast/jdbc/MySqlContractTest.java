// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.sql.SqlKind;
import org.junit.jupiter.api.Tag;

/** The contract on MySQL, whose every commit is on disk. */
@Tag("stores")
class MySqlContractTest extends StoreContract {
  MySqlContractTest() {
    super("mysql", () -> new SqlUnderTest(SqlKind.MYSQL));
  }
}
