// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What is said when agents cannot be used: the cause in the client's or the server's words, and what to do, on one line. */
@Tag("stores")
class ConsulConnectionErrorsTest {
  private static final String ROOT = "5f3e1a5e-0000-4000-8000-000000000001";
  private static final String UNKNOWN = "5f3e1a5e-0000-4000-8000-00000000000f";

  /** A machine that stands still for a moment is no agent that is away. */
  private static final String PATIENT = "?holdfast.connect-timeout=1m";

  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String HUNG_UP =
      "; read the server's log, or, if this is another kind of server, correct host and port in the address";
  private static final String ANOTHER_KIND =
      "; correct host and port in the address: another kind of server answers there";
  private static final String PLAIN =
      "Unrecognized SSL message, plaintext connection?; switch TLS on in the agent, or write consul://";
  private static final String RIGHTS =
      " write on the keys that begin with holdfast.prefix, and session write";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  private static @Nullable Certificates certificates;

  @RegisterExtension
  static final LazyServer<ConsulServer> CAREFUL = new LazyServer<>(() -> ConsulServer.withToken(
      ROOT,
      "-hcl=acl { enabled = true, default_policy = \"deny\", tokens { initial_management = \""
          + ROOT + "\", agent = \"" + ROOT + "\" } }"));

  @RegisterExtension
  static final LazyServer<ConsulServer> SECRET = new LazyServer<>(() -> secret(""));

  @RegisterExtension
  static final LazyServer<ConsulServer> STRICT =
      new LazyServer<>(() -> secret("verify_incoming = true"));

  private final RecordingStart engine = new RecordingStart();

  private static synchronized Certificates certificates() {
    Certificates issued = certificates;
    if (issued == null) {
      issued = new Certificates(folder);
      issued.issue("server", "ip:127.0.0.1");
      certificates = issued;
    }
    return issued;
  }

  private static ConsulServer secret(String more) {
    return ConsulServer.withTls(
        "-hcl=tls { https { ca_file = \"" + certificates().file("ca.pem")
            + "\", cert_file = \"" + certificates().file("server.pem") + "\", key_file = \""
            + certificates().file("server.key") + "\"\n" + more + " } }");
  }

  private static String trusting(String parameters) {
    return parameters + "&holdfast.tls-ca=" + certificates().file("ca.pem");
  }

  /** A token for which a policy with these rules was made; it has no rights without rules. */
  private static String token(String rules) {
    String policies = "";
    if (!rules.isEmpty()) {
      CAREFUL
          .get()
          .call("PUT", "/v1/acl/policy", "{\"Name\":\"some\",\"Rules\":\"" + rules + "\"}");
      policies = "{\"Name\":\"some\"}";
    }
    return CAREFUL
        .get()
        .call("PUT", "/v1/acl/token", "{\"Policies\":[" + policies + "]}")
        .replaceAll(".*\"SecretID\":\"|\".*", "");
  }

  private StoreRuntime runtime(Duration requestTimeout) {
    StoreRuntime real = engine.runtime();
    return new StoreRuntime(
        real.client(),
        real.ticker(),
        real.scheduler(),
        real.random(),
        requestTimeout,
        real.callerWaits());
  }

  private <T> T with(String uri, Duration requestTimeout, Function<LockStore, T> asked) {
    try (LockStore store = ConsulStore.at(StoreAddress.parse(uri))) {
      store.start(runtime(requestTimeout), engine);
      return asked.apply(store);
    }
  }

  /** The message of the first contact, in which ports and what differs from run to run are left out. */
  private void assertTold(String uri, Duration requestTimeout, Reason reason, String expected) {
    Throwable failure =
        with(uri, requestTimeout, store -> Await.failure(store.connect().thenApply(seen -> true)));
    assertThat(failure).isInstanceOfSatisfying(StoreException.class, told -> {
      String address = StoreAddress.parse(uri) + ": ";
      assertThat(message(told)).startsWith(address);
      assertThat(alike(message(told).substring(address.length()))).isEqualTo(expected);
      assertThat(told.reason()).isEqualTo(reason);
      assertThat(told.notApplied()).isTrue();
    });
  }

  private void assertTold(String uri, Reason reason, String expected) {
    assertTold(uri, Await.PATIENCE, reason, expected);
  }

  private static String message(Throwable told) {
    return Objects.requireNonNull(told.getMessage(), "message");
  }

  private static String alike(String message) {
    return message
        .replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT")
        .replaceAll("AccessorID '[-0-9a-f]+'", "AccessorID 'ID'")
        .replaceAll("Remote host (terminated the handshake|closed the channel)", "CLOSED")
        .replaceAll(
            "HTTP/1.1 header parser received no bytes|Connection reset|Broken pipe", "CLOSED");
  }

  private static String closed() {
    return "127.0.0.1:" + ServerProcess.freePort();
  }

  private static String at(WrongServer server) {
    return "127.0.0.1:" + server.port();
  }

  @Test
  void closedPort() {
    assertTold(
        "consul://" + closed() + PATIENT,
        Reason.UNREACHABLE,
        "Connection refused: 127.0.0.1:PORT" + START);
    assertTold(
        "consuls://" + closed() + PATIENT,
        Reason.UNREACHABLE,
        "Connection refused: 127.0.0.1:PORT" + START);
  }

  @Test
  void unknownHost() {
    assertTold(
        "consul://db.holdfast.invalid:1" + PATIENT,
        Reason.UNREACHABLE,
        "unknown host db.holdfast.invalid" + HOST);
  }

  /** One cause for all is told once; otherwise it is told which agent has which. */
  @Test
  void severalAgents() {
    assertTold(
        "consul://" + closed() + "," + closed() + PATIENT,
        Reason.UNREACHABLE,
        "Connection refused: all 2 agents" + START);
    assertTold(
        "consul://" + closed() + ",db.holdfast.invalid:1" + PATIENT,
        Reason.UNREACHABLE,
        "Connection refused: 127.0.0.1:PORT, unknown host db.holdfast.invalid"
            + "; make sure that one of these servers answers, or correct the address");
  }

  /** No token is shown, neither one that the server does not know nor one that lacks a right. */
  @Test
  void wrongToken() {
    assertTold(
        "consul://:" + UNKNOWN + "@" + CAREFUL.get().endpoint() + PATIENT,
        Reason.REFUSED,
        "ACL not found; correct the token in the address, or in the file that holdfast.token-file names");
    String away = "consul://:" + UNKNOWN + "@" + closed() + PATIENT;
    assertThat(StoreAddress.parse(away).toString()).doesNotContain(UNKNOWN);
    assertTold(away, Reason.UNREACHABLE, "Connection refused: 127.0.0.1:PORT" + START);
  }

  @Test
  void missingToken() {
    assertTold(
        "consul://" + CAREFUL.get().endpoint() + PATIENT,
        Reason.REFUSED,
        "Permission denied: anonymous token lacks permission 'key:write' on \"holdfast/lock:\""
            + "; put a token into the address that has" + RIGHTS);
  }

  @Test
  void tokenWithoutRights() {
    assertTold(
        "consul://:" + token("") + "@" + CAREFUL.get().endpoint() + PATIENT,
        Reason.REFUSED,
        "Permission denied: token with AccessorID 'ID' lacks permission 'key:write' on \"holdfast/lock:\""
            + "; give the token" + RIGHTS);
  }

  /** The first contact is made; the first lock says what is missing, and so does doctor, with the right that is its own. */
  @Test
  void tokenWithoutSessions() {
    String uri = "consul://:" + token("key_prefix \\\"holdfast/\\\" { policy = \\\"write\\\" }")
        + "@" + CAREFUL.get().endpoint() + PATIENT;
    String denied =
        "Permission denied: token with AccessorID 'ID' lacks permission 'session:write' on \"m0\"";
    with(uri, Await.PATIENCE, store -> {
      Await.value(store.connect().thenApply(seen -> true));
      Claim claim = engine.claim(LockKey.of("job"), Duration.ofSeconds(30));
      Throwable failure =
          Await.failure(store.attempt(claim, Mode.TRY, store.time().plusSeconds(60)));
      assertThat(failure).isInstanceOfSatisfying(StoreException.class, told -> {
        assertThat(alike(message(told))).endsWith(": " + denied + "; give the token" + RIGHTS);
        assertThat(told.reason()).isEqualTo(Reason.REFUSED);
        assertThat(told.notApplied()).isTrue();
      });
      assertThat(Await.value(store.diagnose()))
          .filteredOn(finding ->
              finding.subject().equals("sessions") || finding.subject().equals("agent"))
          .extracting(Finding::message)
          .map(ConsulConnectionErrorsTest::alike)
          .containsExactlyInAnyOrder(
              "a session of 10 s was not given: " + denied,
              "could not be seen: " + denied.replace("session:write", "agent:read"));
      return true;
    });
  }

  /** A client with TLS, and agents and others without. */
  @Test
  void tlsThatIsNotOffered() throws IOException {
    assertTold("consuls://" + SECRET.get().endpoint() + PATIENT, Reason.REFUSED, PLAIN);
    try (WrongServer http = WrongServer.http();
        WrongServer greeting = WrongServer.greeting()) {
      assertTold("consuls://" + at(http) + PATIENT, Reason.REFUSED, PLAIN);
      assertTold("consuls://" + at(greeting) + PATIENT, Reason.REFUSED, PLAIN);
    }
  }

  @Test
  void tlsThatTheServerWants() {
    assertTold(
        SECRET.get().uri().replace("consuls:", "consul:") + PATIENT,
        Reason.REFUSED,
        "Client sent an HTTP request to an HTTPS server"
            + "; write consuls:// in the address: this port of the agent speaks TLS");
  }

  @Test
  void certificateThatIsNotTrusted() {
    assertTold(
        SECRET.get().uri() + PATIENT,
        Reason.REFUSED,
        "PKIX path building failed: unable to find valid certification path to requested target"
            + "; name the authority that issued the server's certificate with holdfast.tls-ca");
  }

  @Test
  void certificateForAnotherName() {
    assertTold(
        SECRET.get().uri().replace("127.0.0.1", "localhost") + trusting(PATIENT),
        Reason.REFUSED,
        "No name matching localhost found"
            + "; write the host's name as the server's certificate has it, or have the certificate issued for this name");
  }

  @Test
  void certificateThatTheServerWants() {
    assertTold(
        STRICT.get().uri() + trusting(PATIENT),
        Reason.REFUSED,
        "Received fatal alert: certificate_required"
            + "; name a certificate that the server trusts, and its key, with holdfast.tls-cert and holdfast.tls-key");
  }

  @Test
  void anotherKindOfServer() throws IOException {
    try (WrongServer http = WrongServer.http();
        WrongServer greeting = WrongServer.greeting()) {
      assertTold("consul://" + at(http) + PATIENT, Reason.UNREACHABLE, "HTTP 400" + ANOTHER_KIND);
      assertTold(
          "consul://" + at(greeting) + PATIENT,
          Reason.UNREACHABLE,
          "Invalid status line: \"220 mail.example ESMTP\"" + ANOTHER_KIND);
    }
  }

  /** The first contact only reads: a server that may have been asked has changed nothing. */
  @Test
  void silentServer() throws IOException {
    try (WrongServer silent = WrongServer.silent()) {
      assertTold(
          "consul://" + at(silent) + PATIENT,
          Duration.ofMillis(500),
          Reason.UNREACHABLE,
          "request timed out" + SILENT);
      assertTold(
          "consuls://" + at(silent) + "?holdfast.connect-timeout=100ms",
          Reason.UNREACHABLE,
          "HTTP connect timed out: 127.0.0.1:PORT" + SILENT);
    }
  }

  /** The first question is asked again, but not once the store is closed: on clocks that stand still it had no end otherwise. */
  @Test
  void silentServer_isAskedNoMoreOnceTheStoreIsClosed() throws IOException {
    StoreRuntime real = engine.runtime();
    try (WrongServer silent = WrongServer.silent()) {
      CompletionStage<Boolean> contact;
      try (LockStore store =
          ConsulStore.at(StoreAddress.parse("consul://" + at(silent) + PATIENT))) {
        store.start(
            new StoreRuntime(
                real.client(),
                new StillTicker(),
                real.scheduler(),
                real.random(),
                Duration.ofMillis(300),
                real.callerWaits()),
            engine);
        contact = store.connect().thenApply(seen -> true);
        Await.until("it is asked again", () -> silent.connections() > 1);
      }
      assertThat(Await.failure(contact)).hasMessageContaining("request timed out");
    }
  }

  /**
   * Connections to an agent that does not answer, where a try is the first contact: the store asks again while the time of three
   * requests has not passed, and is not told that the engine has given up after one.
   */
  @Test
  void silentServer_thatATryMeetsFirst_isAskedThreeTimesAtMost() throws IOException {
    try (WrongServer silent = WrongServer.silent()) {
      try (Holdfast holdfast = Holdfast.builder()
          .store("consul://" + at(silent) + PATIENT)
          .requestTimeout(Duration.ofMillis(500))
          .connectLazily()
          .build()) {
        assertThatThrownBy(() -> holdfast.lock("job").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
      }
      assertThat(silent.connections()).isLessThanOrEqualTo(3);
    }
  }

  /** What was to change something, and was sent, may be done. */
  @Test
  void silentServer_mayHaveDoneWhatItWasAsked() throws IOException {
    try (WrongServer silent = WrongServer.silent()) {
      String uri = "consul://" + at(silent) + PATIENT;
      Throwable failure = with(
          uri,
          Duration.ofMillis(500),
          store -> Await.failure(store.evict(LockKey.of("job"), 4711)));
      assertThat(failure)
          .isInstanceOfSatisfying(
              StoreException.class, told -> assertThat(told.notApplied()).isFalse());
    }
  }

  @Test
  void serverThatHangsUp() throws IOException {
    try (WrongServer hangingUp = WrongServer.hangingUp()) {
      assertTold("consul://" + at(hangingUp) + PATIENT, Reason.UNREACHABLE, "CLOSED" + HUNG_UP);
      assertTold("consuls://" + at(hangingUp) + PATIENT, Reason.UNREACHABLE, "CLOSED" + HUNG_UP);
    }
  }
}
