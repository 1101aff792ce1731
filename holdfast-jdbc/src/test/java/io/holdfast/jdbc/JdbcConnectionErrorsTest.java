// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is said when there is no connection: the cause in the driver's or the server's words, and what to do, on one line. */
@Tag("stores")
class JdbcConnectionErrorsTest {
  private static final String PASSWORD = "gUessed-7";

  /** An HTTP server answers what it does not understand; its first bytes are no length, and no letter that is expected. */
  private static final byte[] HTTP =
      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private static final String REFUSED_BY_POSTGRESQL = "Connection to 127.0.0.1:PORT refused";
  private static final String REFUSED_BY_MARIADB =
      "Socket fail to connect to 127.0.0.1:PORT [127.0.0.1]. Connection refused";
  private static final String REFUSED_BY_MYSQL = "Communications link failure: Connection refused";
  private static final String LOGIN = "; correct user and password in the address";
  private static final String DATABASE =
      "; create the database, or correct its name in the address";
  private static final String DATABASE_OR_RIGHTS =
      "; create the database, give this user rights on it, or correct the address";
  private static final String RIGHTS =
      "; let this user create the tables, or create them with the output of \"holdfast ddl\" and give this user rights on them";
  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String HUNG_UP =
      "; read the server's log, or, if this is another kind of server, correct host and port in the address";
  private static final String ANOTHER_KIND =
      "; correct host and port in the address: another kind of server answers there";

  private final List<ServerSocket> listening = new ArrayList<>();
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();

  @AfterEach
  void hangUpAll() {
    try {
      for (ServerSocket each : listening) {
        each.close();
      }
      for (Socket each : accepted) {
        each.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is done with a connection. */
  @FunctionalInterface
  private interface Manners {
    void meet(Socket socket) throws IOException;
  }

  /** Listens, and counts who comes. */
  private String listener(Manners manners) throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    listening.add(server);
    Thread thread = new Thread(
        () -> {
          try {
            while (true) {
              Socket socket = server.accept();
              accepted.add(socket);
              connections.incrementAndGet();
              manners.meet(socket);
            }
          } catch (IOException e) {
            // the test is over
          }
        },
        "listener");
    thread.setDaemon(true);
    thread.start();
    return "127.0.0.1:" + server.getLocalPort();
  }

  private static void answer(Socket socket) throws IOException {
    socket.getOutputStream().write(HTTP);
    socket.getOutputStream().flush();
  }

  private void passOn(Socket client, int port) throws IOException {
    Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
    accepted.add(server);
    copy(client, server);
    copy(server, client);
  }

  private static void copy(Socket from, Socket to) {
    Thread thread = new Thread(
        () -> {
          try (from;
              to) {
            from.getInputStream().transferTo(to.getOutputStream());
          } catch (IOException e) {
            // one of them is gone
          }
        },
        "copies");
    thread.setDaemon(true);
    thread.start();
  }

  private static void keepSilent(Socket socket) {}

  private static String at(SqlKind kind, String hostAndPort, String... parameters) {
    SqlServer server = kind.shared();
    return SqlUnderTest.uri(server, parameters)
        .replace("password=" + server.password(), "password=" + PASSWORD)
        .replace("127.0.0.1:" + server.port(), hostAndPort);
  }

  private static String here(SqlKind kind) {
    return "127.0.0.1:" + kind.shared().port();
  }

  /** The message of the first contact, in which ports and what servers' versions quote differently are left out. */
  private static void assertTold(String uri, Reason reason, String expected) {
    StoreException told;
    try (Client client = new Client(uri, Ticker.system())) {
      told = catchThrowableOfType(StoreException.class, client::connect);
      assertThat(told).as("the first contact with %s", uri).isNotNull();
      String address = client.store.describe() + ": ";
      assertThat(message(told)).startsWith(address).doesNotContain(PASSWORD);
      assertThat(alike(message(told).substring(address.length()))).isEqualTo(expected);
    }
    assertThat(told).hasStackTraceContaining("SQL");
    assertThat(told.reason()).isEqualTo(reason);
    assertThat(told.notApplied()).isTrue();
  }

  private static String message(Throwable told) {
    return Objects.requireNonNull(told.getMessage(), "message");
  }

  private static String alike(String message) {
    return message
        .replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT")
        .replaceAll("`holdfast`\\.`(\\w+)`", "'$1'");
  }

  private static String by(SqlKind kind, String postgres, String maria, String mySql) {
    return switch (kind) {
      case POSTGRESQL -> postgres;
      case MARIADB -> maria;
      case MYSQL -> mySql;
    };
  }

  @ParameterizedTest
  @EnumSource
  void closedPort(SqlKind kind) {
    assertTold(
        at(kind, "127.0.0.1:" + ServerProcess.freePort()),
        Reason.UNREACHABLE,
        by(kind, REFUSED_BY_POSTGRESQL, REFUSED_BY_MARIADB, REFUSED_BY_MYSQL) + START);
  }

  @ParameterizedTest
  @EnumSource
  void unknownHost(SqlKind kind) {
    assertTold(
        at(kind, "db.holdfast.invalid:1"),
        Reason.UNREACHABLE,
        by(
                kind,
                "The connection attempt failed",
                "Socket fail to connect to db.holdfast.invalid:1",
                "Communications link failure")
            + ": unknown host db.holdfast.invalid" + HOST);
  }

  @ParameterizedTest
  @EnumSource
  void wrongPassword(SqlKind kind) {
    String denied = "Access denied for user 'holdfast'@'127.0.0.1' (using password: YES)";
    assertTold(
        at(kind, here(kind)),
        Reason.REFUSED,
        by(kind, "FATAL: password authentication failed for user \"holdfast\"", denied, denied)
            + LOGIN);
  }

  @ParameterizedTest
  @EnumSource
  void unknownDatabase(SqlKind kind) {
    SqlServer server = kind.shared();
    String uri = SqlUnderTest.uri(server).replace("/" + SqlServer.DATABASE, "/missing");
    String denied = "Access denied for user 'holdfast'@'%' to database 'missing'";
    assertTold(
        uri,
        Reason.REFUSED,
        by(
            kind,
            "FATAL: database \"missing\" does not exist" + DATABASE,
            denied + DATABASE_OR_RIGHTS,
            denied + DATABASE_OR_RIGHTS));
    if (kind != SqlKind.POSTGRESQL) {
      // who may know which databases there are is told that there is none
      assertTold(
          uri.replace("user=holdfast", "user=" + server.superuser())
              .replace("password=secret", "password=" + SqlServer.superuserPassword()),
          Reason.REFUSED,
          "Unknown database 'missing'" + DATABASE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void missingRight(SqlKind kind) {
    boolean isPostgres = kind == SqlKind.POSTGRESQL;
    SqlServer server = kind.shared();
    String poor = "'poor'@'%'";
    server.execute(
        isPostgres
            ? new String[] {
              "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
              "CREATE ROLE poor LOGIN PASSWORD '" + PASSWORD + "'"
            }
            : new String[] {
              "CREATE USER " + poor + " IDENTIFIED BY '" + PASSWORD + "'",
              "GRANT SELECT ON holdfast.* TO " + poor
            });
    String uri =
        at(kind, here(kind), "holdfast.prefix=errors_").replace("user=holdfast", "user=poor");
    String denied = "CREATE command denied to user 'poor'@'127.0.0.1' for table 'errors_lock'";
    assertTold(
        uri,
        Reason.REFUSED,
        by(kind, "ERROR: permission denied for schema public", denied, denied) + RIGHTS);
    server.execute(
        isPostgres
            ? new String[] {"DROP OWNED BY poor", "DROP ROLE poor"}
            : new String[] {"DROP USER " + poor});
  }

  /** The servers of these tests have no TLS. */
  @ParameterizedTest
  @EnumSource
  void tlsThatIsNotOffered(SqlKind kind) {
    String uri = SqlUnderTest.uri(kind.shared());
    assertTold(
        kind == SqlKind.MARIADB
            ? uri.replace("sslMode=disable&", "")
            : uri + by(kind, "&sslmode=require", "", "&sslMode=REQUIRED"),
        Reason.REFUSED,
        by(
            kind,
            "The server does not support SSL; switch TLS on in the server, or set sslmode=disable in the address",
            "Trying to connect with ssl, but ssl not enabled in the server."
                + " TLS is enabled by default, set sslMode=disable to permit unencrypted connection",
            "SSL Connection required, but not provided by server; switch TLS on in the server, or set sslMode=DISABLED in the address"));
  }

  /** One user of the server may come with TLS only. */
  @Test
  void tlsThatTheServerWants() throws IOException {
    try (PostgresServer server = PostgresServer.with()) {
      server.execute("CREATE ROLE careful LOGIN PASSWORD '" + PASSWORD + "'");
      Path allowed = server.folder().resolve("data").resolve("pg_hba.conf");
      Files.writeString(allowed, """
          hostssl all careful 127.0.0.1/32 scram-sha-256
          host all holdfast,postgres 127.0.0.1/32 scram-sha-256
          """);
      server.restart();
      assertTold(
          SqlUnderTest.uri(server, "sslmode=disable")
              .replace("user=holdfast", "user=careful")
              .replace("password=secret", "password=" + PASSWORD),
          Reason.REFUSED,
          "FATAL: no pg_hba.conf entry for host \"127.0.0.1\", user \"careful\", database \"holdfast\", no encryption"
              + "; set sslmode=require in the address, or allow the connection in the server's pg_hba.conf");
    }
  }

  @ParameterizedTest
  @EnumSource
  void anotherKindOfServer(SqlKind kind) throws IOException {
    assertTold(
        at(kind, listener(JdbcConnectionErrorsTest::answer)),
        Reason.UNREACHABLE,
        by(
                kind,
                "An error occurred while setting up the SSL connection",
                "Could not connect to 127.0.0.1:PORT : received packet size (5526600) is greater than maxAllowedPacket (1048576)",
                "Packet for query is too large (5,526,600 > 65,535)."
                    + " You can change this value on the server by setting the 'max_allowed_packet' variable")
            + ANOTHER_KIND);
    if (kind == SqlKind.POSTGRESQL) {
      assertTold(
          at(kind, listener(JdbcConnectionErrorsTest::answer), "sslmode=disable"),
          Reason.UNREACHABLE,
          "Protocol error. Session setup failed" + ANOTHER_KIND);
    }
  }

  @ParameterizedTest
  @EnumSource
  void silentServer(SqlKind kind) throws IOException {
    assertTold(
        at(kind, listener(JdbcConnectionErrorsTest::keepSilent)),
        Reason.UNREACHABLE,
        by(
                kind,
                "the server gave no connection within 4.5 s",
                "Socket timeout when connecting to 127.0.0.1:PORT. Read timed out",
                "Communications link failure: Read timed out")
            + SILENT);
  }

  /** A driver that has no limit of its own for that does not keep the caller waiting. */
  @ParameterizedTest
  @EnumSource
  void silentServer_withoutALimitInTheAddress(SqlKind kind) throws IOException {
    assertTold(
        at(
            kind,
            listener(JdbcConnectionErrorsTest::keepSilent),
            "connectTimeout=0",
            "socketTimeout=0"),
        Reason.UNREACHABLE,
        "the server gave no connection within 4.5 s" + SILENT);
  }

  /** One connection is tried, and not one after the other until a pool's time is over. */
  @ParameterizedTest
  @EnumSource
  void serverThatHangsUp_isTriedOnce(SqlKind kind) throws IOException {
    String uri = at(kind, listener(Socket::close));
    assertTold(
        uri,
        Reason.UNREACHABLE,
        by(
                kind,
                "The connection attempt failed: the server closed the connection",
                "Could not connect to 127.0.0.1:PORT : unexpected end of stream, read 0 bytes from 4 (socket was closed by server)",
                "Communications link failure: Can not read response from server."
                    + " Expected to read 4 bytes, read 0 bytes before connection was unexpectedly lost")
            + HUNG_UP);
    assertThat(connections).hasValue(1);
    assertThatThrownBy(() -> Holdfast.connect(uri))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(HUNG_UP);
    assertThat(connections).hasValue(2);
  }

  /** The pool has the connection that was tried: a login that was of use is not made a second time. */
  @ParameterizedTest
  @EnumSource
  void firstConnection_isThePools(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    String through = listener(client -> passOn(client, server.port()));
    StoreAddress address =
        StoreAddress.parse(SqlUnderTest.uri(server).replace("127.0.0.1:" + server.port(), through));
    PooledSource source = PooledSource.of(address, JdbcOptions.of(address));
    try {
      source.connect().close();
      source.connect().close();
      assertThat(connections).hasValue(1);
      try (Connection first = source.connect();
          Connection second = source.connect()) {
        assertThat(first).isNotEqualTo(second);
        assertThat(connections).hasValue(2);
      }
    } finally {
      source.close();
    }
  }

  /** A pool that has had connections says that it has none; what its driver said is told all the same. */
  @ParameterizedTest
  @EnumSource
  void serverThatIsGone(SqlKind kind) throws IOException {
    SqlServer server = kind.shared();
    String through = listener(client -> passOn(client, server.port()));
    String uri = SqlUnderTest.uri(server).replace("127.0.0.1:" + server.port(), through);
    try (Client client = new Client(uri, Ticker.system())) {
      client.connect();
      client.granted(client.claim("gone"));
      hangUpAll();
      StoreException told = Await.present("it is told why", () -> {
        // a connection of the pool may have been accepted at the very moment
        hangUpAll();
        StoreException failure = catchThrowableOfType(
            StoreException.class, () -> client.attempt(client.claim("gone"), Mode.TRY));
        return Optional.ofNullable(failure).filter(StoreException::notApplied);
      });
      assertThat(alike(message(told)))
          .endsWith(
              ": " + by(kind, REFUSED_BY_POSTGRESQL, REFUSED_BY_MARIADB, REFUSED_BY_MYSQL) + START);
      assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE);
    }
  }

  /** An application's data source tells what its driver says, too. */
  @ParameterizedTest
  @EnumSource
  void givenDataSource(SqlKind kind) {
    SqlServer server = kind.shared();
    DataSource wrong = StubSource.proxy(DataSource.class, method -> {
      if (!method.equals("getConnection")) {
        return false;
      }
      return server.dataSource().getConnection(server.user(), PASSWORD);
    });
    StoreUnavailableException told =
        catchThrowableOfType(StoreUnavailableException.class, () -> JdbcStore.using(wrong));
    assertThat(told).hasMessageEndingWith(LOGIN).hasMessageContaining("holdfast");
    assertThat(message(told)).doesNotContain(PASSWORD);
    assertThat(told.reason()).isEqualTo(Reason.REFUSED);
  }
}
