// SPDX-License-Identifier: Apache-2.0
/** The SQLite store with its driver; the store's classes are in {@code io.holdfast.jdbc}. */
module io.holdfast.sqlite {
  requires transitive io.holdfast.jdbc;
  requires org.xerial.sqlitejdbc;
}
