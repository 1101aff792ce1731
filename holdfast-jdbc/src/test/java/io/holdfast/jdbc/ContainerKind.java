// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.Map;

/** Servers that are newer than those that this build brings. */
enum ContainerKind {
  MYSQL_8_4("mysql:8.4"),
  MYSQL_9("mysql:9");

  static final String DATABASE = "holdfast";
  static final String USER = "holdfast";
  static final String PASSWORD = "secret";
  static final int PORT = 3306;

  /** What the image makes a database and its user from. */
  static final Map<String, String> ENVIRONMENT = Map.of(
      "MYSQL_DATABASE",
      DATABASE,
      "MYSQL_USER",
      USER,
      "MYSQL_PASSWORD",
      PASSWORD,
      "MYSQL_RANDOM_ROOT_PASSWORD",
      "yes");

  final String image;

  ContainerKind(String image) {
    this.image = image;
  }
}
