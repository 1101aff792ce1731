// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.StoreContract;

/** The contract on SQLite files. */
class SqliteContractTest extends StoreContract {
  SqliteContractTest() {
    super("sqlite", SqliteUnderTest::new);
  }
}
