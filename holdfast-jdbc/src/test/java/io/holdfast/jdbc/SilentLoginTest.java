// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Ticker;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.process.Tunnel;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that hangs: its kernel accepts connections, and nobody ever answers on them; or answers late. */
@Tag("fast")
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class SilentLoginTest {
  private static final String POSTGRESQL =
      "jdbc:postgresql://%s/x?user=a&password=b&sslmode=disable";

  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread accepting = new Thread(
        () -> {
          try {
            while (true) {
              accepted.add(server.accept());
            }
          } catch (IOException e) {
            // the test is over
          }
        },
        "silent-server");
    accepting.setDaemon(true);
    accepting.start();
  }

  @AfterEach
  void hangUp() throws IOException {
    server.close();
    for (Socket each : accepted) {
      each.close();
    }
  }

  private PooledSource source(String url) {
    StoreAddress address = StoreAddress.parse(url.formatted("127.0.0.1:" + server.getLocalPort()));
    return PooledSource.of(address, JdbcOptions.of(address));
  }

  /** A pool makes one connection after the other: one that never comes must not be the last. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        POSTGRESQL,
        "jdbc:mariadb://%s/x?user=a&password=b&sslMode=disable",
        "jdbc:mysql://%s/x?user=a&password=b&sslMode=DISABLED"
      })
  void silentLogin_isGivenUpForTheNext(String url) {
    PooledSource source = source(url);
    try {
      assertThatThrownBy(source::connect).isInstanceOf(SQLException.class);
      CompletableFuture<Connection> next = connecting(source::connect);
      Await.until("the pool has begun anew", () -> accepted.size() > 1);
      assertThat(Await.failure(next)).isInstanceOf(SQLException.class);
    } finally {
      source.close();
    }
  }

  /** One that comes later than the pool waits is not one that fails: the request still has time. */
  @ParameterizedTest
  @EnumSource
  void slowLogin_isWaitedForAsLongAsTheRequestMayTake(SqlKind kind) throws Exception {
    SqlServer of = kind.shared();
    try (Tunnel tunnel = new Tunnel(of.port())) {
      String unlimited = SqlUnderTest.uri(of, "connectTimeout=0", "socketTimeout=0")
          .replace(":" + of.port(), ":" + tunnel.port());
      StoreAddress address = StoreAddress.parse(unlimited);
      JdbcSource source = PooledSource.of(address, JdbcOptions.of(address))
          .forRequestsOf(Duration.ofMinutes(1), Ticker.system());
      try (Connection first = source.connect()) {
        tunnel.stall();
        long begin = System.nanoTime();
        CompletableFuture<Connection> second = connecting(source::connect);
        Await.until("the pool has given up", () -> System.nanoTime() - begin > 2_000_000_000L);
        assertThat(second).isNotDone();
        tunnel.heal();
        Await.value(second).close();
        assertThat(first.isClosed()).isFalse();
      } finally {
        source.close();
      }
    }
  }

  /** The thread that listens opens its connection itself. */
  @Test
  void silentLogin_doesNotKeepAListener() {
    PooledSource source = source(POSTGRESQL);
    try {
      assertThat(Await.failure(connecting(source::connectAside))).isInstanceOf(SQLException.class);
    } finally {
      source.close();
    }
  }

  /** What an address says itself is left as it is; the drivers' units are not the same. */
  @Test
  void limits_leaveTheAddressItsWord() {
    Map<String, String> seconds = Map.of("connectTimeout", "2", "socketTimeout", "5");
    Map<String, String> millis = Map.of("connectTimeout", "2000", "socketTimeout", "1500");
    assertThat(LoginLimits.of("jdbc:postgresql://h/x?user=a")).isEqualTo(seconds);
    assertThat(LoginLimits.of("jdbc:postgresql://h/x?socketTimeout=0"))
        .containsOnlyKeys("connectTimeout");
    assertThat(LoginLimits.of("jdbc:postgresql://h/x?connectTimeout=9"))
        .containsOnlyKeys("socketTimeout");
    assertThat(LoginLimits.of("jdbc:postgresql://h/x?loginTimeout=30")).isEmpty();
    assertThat(LoginLimits.of("jdbc:mariadb://h/x")).isEqualTo(millis);
    assertThat(LoginLimits.of("jdbc:mysql://h/x?sockettimeout=9000"))
        .containsOnlyKeys("connectTimeout");
  }

  /** Opens a connection. */
  @FunctionalInterface
  private interface Opener {
    Connection open() throws SQLException;
  }

  private static CompletableFuture<Connection> connecting(Opener opener) {
    CompletableFuture<Connection> opened = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        opened.complete(opener.open());
      } catch (SQLException | RuntimeException e) {
        opened.completeExceptionally(e);
      }
    });
    thread.setDaemon(true);
    thread.start();
    return opened;
  }
}
