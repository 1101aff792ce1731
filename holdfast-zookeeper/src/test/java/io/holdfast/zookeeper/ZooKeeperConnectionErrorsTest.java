// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What is said when there is no connection: the cause in the server's or this machine's words, and what to do, on one line. */
@Timeout(120)
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperConnectionErrorsTest {
  private static final String PASSWORD = "gUessed-7";
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);
  private static final int SECURE_PORT = ServerProcess.freePort();
  private static final String TLS = "?holdfast.tls=true";

  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String HUNG_UP =
      "; read the server's log, or, if this is another kind of server, correct host and port in the address";
  private static final String ANOTHER_KIND =
      "; correct host and port in the address: another kind of server answers there";
  private static final String HTTP =
      "the server did not answer as ZooKeeper does, but with \"HTTP/1.1 400 Bad Request\": 127.0.0.1:PORT"
          + ANOTHER_KIND;
  private static final String MAIL =
      "the server did not answer as ZooKeeper does, but with \"220 mail.example ESMTP\": 127.0.0.1:PORT"
          + ANOTHER_KIND;

  @TempDir
  static Path folder;

  @RegisterExtension
  static final LazyServer<ZooKeeperServer> SECURE =
      new LazyServer<>(ZooKeeperConnectionErrorsTest::secureServer);

  /** A server with a port for TLS and one without. */
  private static ZooKeeperServer secureServer() {
    Certificates certificates = new Certificates(folder);
    certificates.issue("server", "ip:127.0.0.1");
    Path both = folder.resolve("both.pem");
    try {
      Files.writeString(
          both,
          Files.readString(Path.of(certificates.file("server.pem")))
              + Files.readString(Path.of(certificates.file("server.key"))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ZooKeeperServer.alone(
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
        "secureClientPortAddress=127.0.0.1",
        "secureClientPort=" + SECURE_PORT,
        "ssl.keyStore.location=" + both,
        "ssl.keyStore.type=PEM",
        "ssl.clientAuth=none");
  }

  private static String ca() {
    return "&holdfast.tls-ca=" + folder.resolve("ca.pem");
  }

  /** The message of the first contact, in which ports are left out. */
  private static void assertTold(String uri, Reason reason, String expected) {
    assertTold(ZooKeeperStore.at(StoreAddress.parse(uri)), reason, expected);
  }

  private static void assertTold(LockStore store, Reason reason, String expected) {
    StoreUnavailableException told = catchThrowableOfType(
        StoreUnavailableException.class,
        () -> Holdfast.builder().store(store).build().close());
    assertThat(told).as("the first contact with %s", store.describe()).isNotNull();
    String start = "store " + store.describe() + ": ";
    String message = Objects.requireNonNull(told.getMessage(), "message");
    assertThat(message).startsWith(start).doesNotContain(PASSWORD);
    assertThat(
            message.substring(start.length()).replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT"))
        .isEqualTo(expected);
    assertThat(told.reason()).isEqualTo(reason);
    assertThat(told)
        .cause()
        .isInstanceOfSatisfying(
            StoreException.class, cause -> assertThat(cause.notApplied()).isTrue());
  }

  private static String closed() {
    return "127.0.0.1:" + ServerProcess.freePort();
  }

  private static String at(WrongServer server) {
    return "zookeeper://ann:" + PASSWORD + "@127.0.0.1:" + server.port() + "/locks";
  }

  @Test
  void closedPort() {
    String expected = "Connection refused: 127.0.0.1:PORT" + START;
    assertTold("zookeeper://" + closed(), Reason.UNREACHABLE, expected);
    assertTold("zookeeper://" + closed() + "/a" + TLS, Reason.UNREACHABLE, expected);
  }

  @Test
  void unknownHost() {
    assertTold(
        "zookeeper://db.holdfast.invalid",
        Reason.UNREACHABLE,
        "unknown host db.holdfast.invalid" + HOST);
  }

  @Test
  void severalServers() throws IOException {
    assertTold(
        "zookeeper://" + closed() + "," + closed(),
        Reason.UNREACHABLE,
        "Connection refused: 127.0.0.1:PORT, 127.0.0.1:PORT" + START);
    try (WrongServer silent = WrongServer.silent()) {
      assertTold(
          "zookeeper://" + closed() + ",127.0.0.1:" + silent.port(),
          Reason.UNREACHABLE,
          "127.0.0.1:PORT: Connection refused; 127.0.0.1:PORT: Read timed out"
              + "; make sure that one of these servers answers, or correct the address");
    }
  }

  /** A caller who connects lazily is told the same, in the time of a request. */
  @Test
  void lazily() throws IOException {
    try (WrongServer silent = WrongServer.silent();
        Holdfast holdfast = Holdfast.builder()
            .store(at(silent))
            .requestTimeout(REQUEST_TIMEOUT)
            .connectLazily()
            .build()) {
      StoreUnavailableException told = catchThrowableOfType(
          StoreUnavailableException.class, () -> holdfast.lock("a").tryAcquire());
      assertThat(told).hasMessageEndingWith(SILENT);
    }
  }

  @Test
  void silentServer() throws IOException {
    try (WrongServer silent = WrongServer.silent()) {
      String expected = "Read timed out: 127.0.0.1:PORT" + SILENT;
      assertTold(at(silent), Reason.UNREACHABLE, expected);
      assertTold(at(silent) + TLS, Reason.UNREACHABLE, expected);
    }
  }

  @Test
  void serverThatHangsUp() throws IOException {
    try (WrongServer hangingUp = WrongServer.hangingUp()) {
      String expected = "the server closed the connection: 127.0.0.1:PORT" + HUNG_UP;
      assertTold(at(hangingUp), Reason.UNREACHABLE, expected);
      assertTold(at(hangingUp) + TLS, Reason.UNREACHABLE, expected);
    }
  }

  @Test
  void anotherKindOfServer() throws IOException {
    try (WrongServer http = WrongServer.http();
        WrongServer mail = WrongServer.greeting()) {
      assertTold(at(http), Reason.UNREACHABLE, HTTP);
      assertTold(at(http) + TLS, Reason.UNREACHABLE, HTTP);
      assertTold(at(mail), Reason.UNREACHABLE, MAIL);
      assertTold(at(mail) + TLS, Reason.UNREACHABLE, MAIL);
    }
  }

  @Test
  void tlsThatTheServerWants() {
    assertThat(SECURE.get().serves()).isTrue();
    assertTold(
        "zookeeper://127.0.0.1:" + SECURE_PORT,
        Reason.REFUSED,
        "the server speaks TLS only: 127.0.0.1:PORT; set holdfast.tls=true in the address, or name the port that the server has without TLS");
  }

  @Test
  void tlsThatIsNotOffered() {
    String expected =
        "the server does not speak TLS: 127.0.0.1:PORT; name the port that the server has for TLS, or leave out holdfast.tls";
    assertTold("zookeeper://" + SECURE.get().address() + TLS + ca(), Reason.REFUSED, expected);
    assertTold(
        "zookeeper://" + ZooKeeperUnderTest.server().address() + TLS, Reason.REFUSED, expected);
  }

  @Test
  void certificateThatIsNotTrusted() {
    assertThat(SECURE.get().serves()).isTrue();
    assertTold(
        "zookeeper://127.0.0.1:" + SECURE_PORT + TLS,
        Reason.UNREACHABLE,
        "unable to find valid certification path to requested target: 127.0.0.1:PORT"
            + "; name the authority that issued the server's certificate with holdfast.tls-ca, and check that the certificate is for the host in the address");
  }

  /** A server that has lost its ensemble, and one that has not come up yet, say so. */
  @Test
  void noQuorum() throws IOException {
    NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
    connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
    connections.start();
    try {
      assertTold(
          "zookeeper://127.0.0.1:" + connections.getLocalPort(),
          Reason.UNREACHABLE,
          "This ZooKeeper instance is not currently serving requests: 127.0.0.1:PORT"
              + "; start a majority of the servers, and check that they reach each other");
    } finally {
      connections.shutdown();
    }
  }

  /** ZooKeeper takes any password, and the nodes belong to it: another one may not use them. */
  @Test
  void wrongPassword() {
    String root = "@" + ZooKeeperUnderTest.server().address() + "/errors";
    Clients.connect("zookeeper://ann:secret" + root).close();
    assertTold(
        "zookeeper://ann:" + PASSWORD + root,
        Reason.REFUSED,
        "could not make or read /errors/format: NoAuth: the node's ACL does not allow the request"
            + "; log in as a user that the ACL names, change the ACL, or choose another root");
  }

  @Test
  void givenClient() {
    try (CuratorFramework curator =
        CuratorFrameworkFactory.newClient(closed(), 40_000, 20_000, new RetryOneTime(100))) {
      curator.start();
      assertTold(
          ZooKeeperStore.using(curator),
          Reason.UNREACHABLE,
          "Connection refused: 127.0.0.1:PORT" + START);
    }
  }

  /** A connection that was there is told of, too: nothing was sent. */
  @Test
  void serverThatIsGone() {
    try (ZooKeeperServer server = ZooKeeperServer.alone();
        Holdfast holdfast =
            Holdfast.builder().store("zookeeper://" + server.address()).build()) {
      server.kill();
      String expected = "Connection refused: " + server.address() + START;
      Await.until("it is told why", () -> {
        HoldfastException told = catchThrowableOfType(
            HoldfastException.class, () -> holdfast.lock("a").tryAcquire());
        return told instanceof StoreUnavailableException
            && String.valueOf(told.getMessage()).endsWith(expected);
      });
    }
  }
}
