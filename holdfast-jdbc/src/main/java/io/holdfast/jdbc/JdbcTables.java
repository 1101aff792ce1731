// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

/**
 * The names of the tables, as they stand in statements.
 *
 * @param lock one row for each lock
 * @param waiter one row for each fair waiter
 * @param meta one row: the format, and when old rows were deleted
 * @param taken a view for operators
 */
record JdbcTables(String lock, String waiter, String meta, String taken) {
  /** Makes them of a schema, which may be empty, and of what their names begin with. Both are checked identifiers. */
  static JdbcTables of(String schema, String prefix) {
    String start = (schema.isEmpty() ? "" : schema + ".") + prefix;
    return new JdbcTables(start + "lock", start + "waiter", start + "meta", start + "taken");
  }

  /** Puts the names in. */
  String in(String sql) {
    return sql.replace("{lock}", lock)
        .replace("{waiter}", waiter)
        .replace("{meta}", meta)
        .replace("{taken}", taken);
  }
}
