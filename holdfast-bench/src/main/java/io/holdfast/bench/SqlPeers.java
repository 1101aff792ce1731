// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** Who is measured on an SQL server: each with a pool of its own, which is as it is by default. */
final class SqlPeers extends Peers {
  static final String STORE = "our bare statements";
  static final String SPRING = "Spring";
  static final String SHEDLOCK = "ShedLock";

  SqlPeers(String url) {
    add(FLOOR, () -> new PlainSql(pool(url)));
    add(US, () -> new HoldfastPeer(url));
    add(STORE, () -> new BareStatements(url));
    add(SPRING, () -> new SpringSql(pool(url)));
    add(SHEDLOCK, () -> new ShedLockPeer(pool(url)));
  }

  private static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    return new HikariDataSource(config);
  }
}
