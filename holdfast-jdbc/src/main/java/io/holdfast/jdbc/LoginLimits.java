// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * How long a driver waits for a server while it makes a connection. A server that hangs accepts connections and says
 * nothing: a pool, which makes one connection after the other, would wait for the first of them for as long as the
 * process lives, though the server is long back.
 */
final class LoginLimits {
  /** To reach a server; one of several that are named may be switched off. */
  private static final int CONNECT_MILLIS = 2000;

  /** For each answer of PostgreSQL to a login, behind which may stand a directory that is asked, or a server that wakes up. */
  private static final int ANSWER_SECONDS = 5;

  /** The same for MySQL and MariaDB. */
  private static final int ANSWER_MILLIS = 1500;

  private LoginLimits() {}

  /**
   * What the driver is told, but for what the address says itself. A session sets its own limit for answers afterwards.
   */
  static Map<String, String> of(String url) {
    Map<String, String> limits = new LinkedHashMap<>();
    if (!url.startsWith("jdbc:postgresql:")) {
      limits.put("connectTimeout", Integer.toString(CONNECT_MILLIS));
      // To end a connection that is aborted, MariaDB's driver makes another one, and would wait for ever there if the server
      // is silent.
      limits.put("socketTimeout", Integer.toString(ANSWER_MILLIS));
    } else if (!says(url, "loginTimeout")) {
      limits.put("connectTimeout", Integer.toString(CONNECT_MILLIS / 1000));
      limits.put("socketTimeout", Integer.toString(ANSWER_SECONDS));
    }
    limits.keySet().removeIf(property -> says(url, property));
    return limits;
  }

  /** Says whether an address has a property of the driver's. Some drivers take its name in any case. */
  static boolean says(String url, String property) {
    return url.toLowerCase(Locale.ROOT).contains(property.toLowerCase(Locale.ROOT) + "=");
  }
}
