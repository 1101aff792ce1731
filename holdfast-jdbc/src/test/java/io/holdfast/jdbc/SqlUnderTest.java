// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holdfast;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.EnumSet;
import java.util.Set;

/** One server of a kind for all tests of this JVM, emptied before and after each. */
final class SqlUnderTest implements StoreUnderTest {
  private final SqlKind kind;
  final SqlServer server;

  SqlUnderTest(SqlKind kind) {
    this.kind = kind;
    this.server = kind.shared();
    // others use it, too, and leave what they like
    server.emptyTables();
  }

  @Override
  public String version() {
    return server.version();
  }

  @Override
  public String provision() {
    return kind == SqlKind.POSTGRESQL
        ? "child process, fsync and synchronous_commit on"
        : "child process, innodb_flush_log_at_trx_commit=1";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return new JdbcStoreFactory().open(StoreAddress.parse(uri()));
  }

  @Override
  public String uri() {
    return uri(server);
  }

  /** The address of a store on a server, with more parameters. */
  static String uri(SqlServer server, String... parameters) {
    return server.storeUri(parameters);
  }

  /** Begins a client whose requests last longer than a busy machine stands still: an answer is what a test looks at. */
  static Holdfast.Builder patient(String uri) {
    return Holdfast.builder().store(uri).requestTimeout(Client.TIMEOUT);
  }

  @Override
  public void restart() {
    server.restart();
  }

  @Override
  public void stall() {
    server.pause();
  }

  @Override
  public void resume() {
    server.resume();
  }

  @Override
  public void close() {
    server.emptyTables();
  }
}
