// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Servers that speak TLS: who is let in, who is refused, and what the one who is refused is told. */
@Tag("stores")
class ConsulTlsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path otherFolder;

  private static @Nullable Certificates certificates;

  @SuppressWarnings("NullAway.Init")
  private static Certificates others;

  @RegisterExtension
  static final LazyServer<ConsulServer> SERVER = new LazyServer<>(() -> server("server", ""));

  @RegisterExtension
  static final LazyServer<ConsulServer> STRICT =
      new LazyServer<>(() -> server("server", "verify_incoming = true"));

  @RegisterExtension
  static final LazyServer<ConsulServer> STRANGE = new LazyServer<>(() -> server("elsewhere", ""));

  /** What the servers are started with. */
  private static synchronized Certificates certificates() {
    Certificates issued = certificates;
    if (issued == null) {
      issued = new Certificates(folder);
      issued.issue("server", "ip:127.0.0.1");
      issued.issue("elsewhere", "dns:elsewhere.example");
      issued.issue("client", "dns:client.example");
      certificates = issued;
    }
    return issued;
  }

  @BeforeAll
  static void issueOthers() {
    others = new Certificates(otherFolder);
    others.issue("client", "dns:client.example");
  }

  private static ConsulServer server(String certificate, String more) {
    return ConsulServer.withTls(
        "-hcl=tls { https { ca_file = \"" + certificates().file("ca.pem")
            + "\", cert_file = \"" + certificates().file(certificate + ".pem") + "\", key_file = \""
            + certificates().file(certificate + ".key") + "\"\n" + more + " } }");
  }

  private static String uri(ConsulServer to, String... parameters) {
    return to.uri() + "?holdfast.tls-ca=" + certificates().file("ca.pem")
        + String.join("", parameters);
  }

  private static String shown(Certificates whose) {
    return "&holdfast.tls-cert=" + whose.file("client.pem") + "&holdfast.tls-key="
        + whose.file("client.key");
  }

  /** The server's certificate is checked against the given authority; requests and blocking queries go through TLS. */
  @Test
  void serverWeTrust_isUsed() throws Exception {
    try (Holdfast one = Clients.connect(uri(SERVER.get()));
        Holdfast other = Clients.connect(uri(SERVER.get()))) {
      Hold hold = one.lock("x").acquire();
      CompletableFuture<Hold> waiter = other.lock("x").acquireAsync();
      Await.until(
          "somebody waits",
          () -> SERVER.get().call("GET", "/v1/kv/?keys", "").contains("wanted:x"));
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  /** An authority that we were not told of: refused, and not tried again for the time of an outage. */
  @Test
  void serverOfAnotherAuthority_isRefused() {
    assertRefused(
        SERVER.get().uri() + "?holdfast.tls-ca=" + others.file("ca.pem"),
        "PKIX path",
        "holdfast.tls-ca");
    assertRefused(SERVER.get().uri(), "PKIX path", "holdfast.tls-ca");
  }

  /** A certificate for another host. */
  @Test
  void serverWithAnotherName_isRefused() {
    assertRefused(uri(STRANGE.get()), "IP address 127.0.0.1", "as the server's certificate has it");
  }

  /** A server that asks for our certificate gets it; whoever has none, or another authority's, is told what it was. */
  @Test
  void serverThatAsksForACertificate_getsOurs() throws Exception {
    try (Holdfast client = Clients.connect(uri(STRICT.get(), shown(certificates())))) {
      assertThat(client.lock("x").acquire().release()).isTrue();
    }
    assertRefused(uri(STRICT.get()), "holdfast.tls-cert");
    assertRefused(uri(STRICT.get(), shown(others)), "holdfast.tls-cert");
  }

  /**
   * A server's refusal may meet our request and be lost with it: what is read then is the end of a connection. It is found
   * out, and told as what it is.
   */
  @Test
  void refusalThatIsLost_isFoundOut() throws Exception {
    try (SilentAgent agent = new SilentAgent(certificates(), true)) {
      assertRefused(uri(agent), "certificate", "holdfast.tls-cert");
      assertThat(agent.asked()).isEqualTo(2);
    }
  }

  /** An agent that just goes is no refusal. */
  @Test
  void connectionThatEnds_isNoRefusal() throws Exception {
    try (SilentAgent agent = new SilentAgent(certificates(), false)) {
      assertThatThrownBy(() -> Holdfast.connect(uri(agent)).close())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE));
    }
  }

  private static String uri(SilentAgent agent) {
    return "consuls://" + agent.endpoint() + "?holdfast.tls-ca="
        + certificates().file("ca.pem");
  }

  /** Plain text and TLS do not meet; neither hangs. */
  @Test
  void plainTextAndTls_doNotMeet() {
    String secret = SERVER.get().uri().replace("consuls:", "consul:");
    assertThatThrownBy(() -> Holdfast.connect(secret).close())
        .isInstanceOf(StoreUnavailableException.class);
    String plain = "consuls://" + SERVER.get().endpoint();
    assertThatThrownBy(() -> Holdfast.connect(plain).close())
        .isInstanceOf(StoreUnavailableException.class);
  }

  /** What doctor says of the way to the servers is true. */
  @Test
  void doctor_saysWhetherItIsTls() {
    assertThat(encryption(uri(SERVER.get()))).isEqualTo(Finding.Level.OK);
    assertThat(encryption("consul://" + SERVER.get().endpoint())).isEqualTo(Finding.Level.WARNING);
  }

  private static Finding.Level encryption(String uri) {
    RecordingStart engine = new RecordingStart();
    try (LockStore store = ConsulStore.at(StoreAddress.parse(uri))) {
      store.start(engine.runtime(), engine);
      return Await.value(store.diagnose()).stream()
          .filter(finding -> finding.subject().equals("encryption"))
          .findFirst()
          .orElseThrow()
          .level();
    }
  }

  /** However long this JVM stands still, which may be one end of the connection or both. */
  private static void assertRefused(String uri, String... words) {
    Holdfast.Builder builder = Holdfast.builder().store(uri).requestTimeout(Await.PATIENCE);
    assertThatThrownBy(() -> builder.build().close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.getMessage()).contains(words);
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
        });
  }
}
