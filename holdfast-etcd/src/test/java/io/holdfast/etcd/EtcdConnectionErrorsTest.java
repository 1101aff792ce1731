// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What is said when there is no connection: the cause in gRPC's, the network's or the server's words, and what to do, on one line. */
@Tag("stores")
class EtcdConnectionErrorsTest {
  private static final String PASSWORD = "gUessed-7";
  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String HUNG_UP =
      "Network closed for unknown reason; if the server wants TLS, ask for it in the address,"
          + " otherwise read the server's log or correct host and port in the address";
  private static final String HUNG_UP_IN_TLS =
      "Connection closed while performing TLS negotiation; if the server has no TLS, write etcd://,"
          + " otherwise read the server's log or correct host and port in the address";
  private static final String ANOTHER_KIND =
      "First received frame was not SETTINGS; correct host and port in the address: another kind of server answers there";
  private static final String NO_TLS =
      "not an SSL/TLS record; switch TLS on in the server, or write etcd://";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  @RegisterExtension
  static final LazyServer<EtcdServer> WITH_USERS = new LazyServer<>(() -> {
    EtcdServer server = EtcdServer.with();
    EtcdUsers.make(server);
    return server;
  });

  private static LockStore started(LockStore store) {
    RecordingStart engine = new RecordingStart();
    store.start(engine.runtime(), engine);
    return store;
  }

  private static StoreException contact(LockStore store) {
    return (StoreException) Await.failure(store.connect());
  }

  /** The message of the first contact, in which ports are left out. */
  private static void assertTold(String uri, Reason reason, String expected) {
    LockStore store = started(EtcdStore.at(StoreAddress.parse(uri)));
    try {
      StoreException told = contact(store);
      String address = store.describe() + ": ";
      assertThat(message(told)).startsWith(address).doesNotContain(PASSWORD);
      assertThat(alike(message(told).substring(address.length()))).isEqualTo(expected);
      assertThat(told).hasStackTraceContaining("io.grpc");
      assertThat(told.reason()).isEqualTo(reason);
      assertThat(told.notApplied()).isTrue();
    } finally {
      store.close();
    }
  }

  private static String message(Throwable told) {
    return Objects.requireNonNull(told.getMessage(), "message");
  }

  private static String alike(String message) {
    return message
        .replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT")
        // what a server left unread when it closed the connection makes that a reset
        .replaceFirst(
            "^(Connection reset( by peer)?|Broken pipe)", "Network closed for unknown reason");
  }

  private static String closed() {
    return "127.0.0.1:" + ServerProcess.freePort();
  }

  private static String at(WrongServer server) {
    return "127.0.0.1:" + server.port();
  }

  @Test
  void closedPort() {
    String refused = "Connection refused: 127.0.0.1:PORT";
    assertTold("etcd://" + closed(), Reason.UNREACHABLE, refused + START);
    assertTold("etcds://" + closed(), Reason.UNREACHABLE, refused + START);
    assertTold("etcd://worker:" + PASSWORD + "@" + closed(), Reason.UNREACHABLE, refused + START);
    assertTold(
        "etcd://" + closed() + "," + closed(),
        Reason.UNREACHABLE,
        refused + ", 127.0.0.1:PORT" + START);
  }

  @Test
  void unknownHost() {
    assertTold(
        "etcd://db.holdfast.invalid:1",
        Reason.UNREACHABLE,
        "unknown host db.holdfast.invalid" + HOST);
  }

  @Test
  void membersThatDiffer() throws IOException {
    assertTold(
        "etcd://db.holdfast.invalid:1," + closed(),
        Reason.UNREACHABLE,
        "Connection refused: 127.0.0.1:PORT and unknown host db.holdfast.invalid" + START);
    // one of them may be started
    try (WrongServer wrong = WrongServer.http()) {
      assertTold(
          "etcds://" + at(wrong) + "," + closed(),
          Reason.UNREACHABLE,
          "Connection refused: 127.0.0.1:PORT and not an SSL/TLS record: 127.0.0.1:PORT" + START);
    }
  }

  @Test
  void wrongPassword() {
    assertTold(
        EtcdUsers.uri(WITH_USERS.get(), "worker", PASSWORD),
        Reason.REFUSED,
        "etcdserver: authentication failed, invalid user ID or password; correct user and password in the address");
  }

  @Test
  void noUser() {
    assertTold(
        WITH_USERS.get().uri(),
        Reason.REFUSED,
        "etcdserver: user name is empty; write USER:PASSWORD@ before the hosts in the address");
  }

  @Test
  void userWhereNoneIsAsked() {
    assertTold(
        EtcdUsers.uri(EtcdUnderTest.server(), "worker", PASSWORD),
        Reason.REFUSED,
        "etcdserver: authentication is not enabled;"
            + " leave user and password out of the address, or enable authentication in etcd");
  }

  @Test
  void missingRight() {
    assertTold(
        EtcdUsers.uri(WITH_USERS.get(), "worker", "worker") + "?holdfast.prefix=other/",
        Reason.REFUSED,
        "etcdserver: permission denied; give the user's role readwrite on the keys that begin with holdfast.prefix");
  }

  @Test
  void tlsOnOneSide() {
    assertTold("etcds://" + EtcdUnderTest.server().endpoint(), Reason.UNREACHABLE, HUNG_UP_IN_TLS);
    try (EtcdServer server = server("server", new Certificates(folder), "ip:127.0.0.1")) {
      assertTold("etcd://" + server.endpoint(), Reason.UNREACHABLE, HUNG_UP);
      assertTold(
          "etcds://" + server.endpoint(),
          Reason.REFUSED,
          "PKIX path building failed: unable to find valid certification path to requested target;"
              + " name the authority that issued the server's certificate with holdfast.tls-ca");
    }
  }

  @Test
  void certificates(@TempDir Path own) {
    Certificates certificates = new Certificates(own);
    String ca = certificates.file("ca.pem");
    try (EtcdServer server = server("elsewhere", certificates, "dns:elsewhere.example")) {
      assertTold(
          server.uri() + "?holdfast.tls-ca=" + ca,
          Reason.REFUSED,
          "No subject alternative names matching IP address 127.0.0.1 found;"
              + " write the host's name as the server's certificate has it, or name it with holdfast.tls-authority");
    }
    try (EtcdServer strict = server(
        "strict", certificates, "ip:127.0.0.1", "--client-cert-auth", "--trusted-ca-file=" + ca)) {
      assertTold(
          strict.uri() + "?holdfast.tls-ca=" + ca,
          Reason.REFUSED,
          "Received fatal alert: certificate_required;"
              + " name a certificate that the server trusts, and its key, with holdfast.tls-cert and holdfast.tls-key");
    }
  }

  private static EtcdServer server(
      String name, Certificates certificates, String host, String... more) {
    certificates.issue(name, host);
    String[] options = new String[more.length + 2];
    options[0] = "--cert-file=" + certificates.file(name + ".pem");
    options[1] = "--key-file=" + certificates.file(name + ".key");
    System.arraycopy(more, 0, options, 2, more.length);
    return EtcdServer.withTls(options);
  }

  @Test
  void anotherKindOfServer() throws IOException {
    try (WrongServer http = WrongServer.http();
        WrongServer greeting = WrongServer.greeting()) {
      assertTold("etcd://" + at(http), Reason.UNREACHABLE, ANOTHER_KIND);
      assertTold("etcd://" + at(greeting), Reason.UNREACHABLE, ANOTHER_KIND);
      assertTold("etcds://" + at(http), Reason.REFUSED, NO_TLS);
      assertTold("etcds://" + at(greeting), Reason.REFUSED, NO_TLS);
    }
  }

  @Test
  void silentServer() throws IOException {
    String silent = "the server gave no connection within 4.5 s" + SILENT;
    try (WrongServer server = WrongServer.silent()) {
      assertTold("etcd://" + at(server), Reason.UNREACHABLE, silent);
      assertConnections(server, 1, 1);
      assertTold("etcds://" + at(server), Reason.UNREACHABLE, silent);
      assertConnections(server, 2, 2);
    }
  }

  /** A server that has been silent may still answer, on the connection that it has. */
  @Test
  void serverThatWasSilent_isUsedWhenItAnswers() {
    try (EtcdServer server = EtcdServer.with()) {
      server.pause();
      LockStore store = started(EtcdStore.at(StoreAddress.parse(server.uri())));
      try {
        assertThat(contact(store)).hasMessageContaining("the server gave no connection within");
        server.resume();
        Await.until(
            "it answers", () -> Await.value(store.connect().handle((seen, e) -> e == null)));
      } finally {
        store.close();
      }
    }
  }

  @Test
  void serverThatHangsUp() throws IOException {
    // what a JVM's first contact loads takes longer than all that is counted below
    assertTold(
        "etcd://" + closed(), Reason.UNREACHABLE, "Connection refused: 127.0.0.1:PORT" + START);
    try (WrongServer server = WrongServer.hangingUp()) {
      long begun = System.nanoTime();
      assertTold("etcd://" + at(server), Reason.UNREACHABLE, HUNG_UP);
      // the next one comes after a second, less what gRPC draws, if the machine stood still for so long before the store was closed
      long pauses = Duration.ofNanos(System.nanoTime() - begun).dividedBy(Duration.ofMillis(500));
      assertConnections(server, 1, 1 + pauses);
    }
  }

  private static void assertConnections(WrongServer server, int atLeast, long atMost) {
    // the client may be told of one before the server has counted it
    Await.until("all are counted", () -> server.connections() >= atLeast);
    assertThat(server.connections()).isLessThanOrEqualTo(Math.toIntExact(atMost));
  }

  /** The exception that callers get says the same. */
  @Test
  void callers_areToldTheSame() {
    String address = closed();
    StoreUnavailableException told = Assertions.catchThrowableOfType(
        StoreUnavailableException.class, () -> Holdfast.connect("etcd://" + address));
    assertThat(told)
        .hasMessage("store etcd://" + address + ": Connection refused: " + address + START);
    assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE);
  }

  /** An application's client has a way of its own to choose a connection: what it says is told, too. */
  @Test
  void givenClient() {
    String address = closed();
    try (Client client =
        Client.builder().endpoints("http://" + address).waitForReady(false).build()) {
      LockStore store = started(EtcdStore.using(client));
      StoreException told = contact(store);
      assertThat(told)
          .hasMessage("etcd (the application's client): Connection refused: " + address + START);
      assertThat(told.notApplied()).isTrue();
      store.close();
    }
  }
}
