// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holdfast;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.Occupancy;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One server of a kind for all tests of this JVM, emptied when none is on it. */
final class SqlUnderTest implements StoreUnderTest {
  private static final Map<SqlKind, Occupancy> TESTS = new ConcurrentHashMap<>();

  private final SqlKind kind;
  private final Occupancy tests;
  final SqlServer server;

  SqlUnderTest(SqlKind kind) {
    this.kind = kind;
    this.server = kind.shared();
    this.tests = TESTS.computeIfAbsent(kind, each -> new Occupancy(server::emptyTables));
    tests.enter();
  }

  @Override
  public String version() {
    return server.version() + server.remark();
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
    tests.leave();
  }
}
