// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Servers that speak TLS: who is let in, who is refused, and what the one who is refused is told. */
@Tag("stores")
class EtcdTlsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path otherFolder;

  private static @Nullable Certificates certificates;

  @RegisterExtension
  static final LazyServer<EtcdServer> SERVER = new LazyServer<>(() -> server("server"));

  @RegisterExtension
  static final LazyServer<EtcdServer> STRICT = new LazyServer<>(() -> server(
      "server", "--client-cert-auth", "--trusted-ca-file=" + certificates().file("ca.pem")));

  @RegisterExtension
  static final LazyServer<EtcdServer> STRANGE = new LazyServer<>(() -> server("elsewhere"));

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

  private static EtcdServer server(String certificate, String... more) {
    String[] options = new String[more.length + 2];
    options[0] = "--cert-file=" + certificates().file(certificate + ".pem");
    options[1] = "--key-file=" + certificates().file(certificate + ".key");
    System.arraycopy(more, 0, options, 2, more.length);
    return EtcdServer.withTls(options);
  }

  private static String uri(EtcdServer to, String... parameters) {
    return to.uri() + "?holdfast.tls-ca=" + certificates().file("ca.pem")
        + String.join("", parameters);
  }

  /** The server's certificate is checked against the given authority; requests and watches both go through TLS. */
  @Test
  void serverWeTrust_isUsed() throws Exception {
    try (Holdfast one = Clients.connect(uri(SERVER.get()));
        Holdfast other = Clients.connect(uri(SERVER.get()))) {
      Hold hold = one.lock("x").acquire();
      CompletableFuture<Hold> waiter = other.lock("x").acquireAsync();
      Await.until(
          "somebody waits",
          () -> one.admin().inspect("x").orElseThrow().waiters().known() == 1);
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  /** An authority that we were not told of: refused, and not tried again for the time of an outage. */
  @Test
  void serverOfAnotherAuthority_isRefused() {
    Certificates others = new Certificates(otherFolder);
    assertRefused(
        SERVER.get().uri() + "?holdfast.tls-ca=" + others.file("ca.pem"), "holdfast.tls-ca");
    assertRefused(SERVER.get().uri(), "holdfast.tls-ca");
  }

  /** A certificate for another host: refused, unless we said that this is its name. */
  @Test
  void serverWithAnotherName_isRefused() throws Exception {
    assertRefused(uri(STRANGE.get()), "127.0.0.1");
    try (Holdfast client =
        Clients.connect(uri(STRANGE.get(), "&holdfast.tls-authority=elsewhere.example"))) {
      assertThat(client.lock("x").acquire().release()).isTrue();
    }
    assertRefused(uri(STRANGE.get(), "&holdfast.tls-authority=nowhere.example"), "nowhere.example");
  }

  /** A server that asks for our certificate gets it; without one it is told that it was the certificate. */
  @Test
  void serverThatAsksForACertificate_getsOurs() throws Exception {
    String ours = "&holdfast.tls-cert=" + certificates().file("client.pem") + "&holdfast.tls-key="
        + certificates().file("client.key");
    try (Holdfast client = Clients.connect(uri(STRICT.get(), ours))) {
      assertThat(client.lock("x").acquire().release()).isTrue();
    }
    assertRefused(uri(STRICT.get()), "holdfast.tls-cert");
  }

  /** Plain text and TLS do not meet; neither hangs. */
  @Test
  void plainTextAndTls_doNotMeet() {
    assertThatThrownBy(
            () -> Holdfast.connect("etcd://" + SERVER.get().endpoint()).close())
        .isInstanceOf(StoreUnavailableException.class);
    String plain = "etcds://" + EtcdUnderTest.server().endpoint();
    assertThatThrownBy(() -> Holdfast.connect(plain).close())
        .isInstanceOf(StoreUnavailableException.class);
  }

  private static void assertRefused(String uri, String... words) {
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.getMessage()).contains(words);
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
        });
  }
}
