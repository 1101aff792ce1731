// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.Map;

/** Servers that are newer than those that this build brings. */
enum ContainerKind {
  MYSQL_8_4("mysql:8.4", "mysql", 3306),
  MYSQL_9("mysql:9", "mysql", 3306),
  POSTGRESQL_18("postgres:18", "postgresql", 5432);

  static final String DATABASE = "holdfast";
  static final String USER = "holdfast";
  static final String PASSWORD = "secret";

  final String image;
  final String scheme;
  final int port;

  ContainerKind(String image, String scheme, int port) {
    this.image = image;
    this.scheme = scheme;
    this.port = port;
  }

  /** What the image makes a database and its user from. */
  Map<String, String> environment() {
    return this == POSTGRESQL_18
        ? Map.of("POSTGRES_DB", DATABASE, "POSTGRES_USER", USER, "POSTGRES_PASSWORD", PASSWORD)
        : Map.of(
            "MYSQL_DATABASE",
            DATABASE,
            "MYSQL_USER",
            USER,
            "MYSQL_PASSWORD",
            PASSWORD,
            "MYSQL_RANDOM_ROOT_PASSWORD",
            "yes");
  }
}
