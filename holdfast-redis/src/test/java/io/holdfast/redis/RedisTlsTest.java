// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Servers that speak TLS: who is let in, who is refused, and what the one who is refused is told. */
@Tag("stores")
class RedisTlsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path otherFolder;

  private static @Nullable Certificates certificates;

  private static final int PORT = ServerProcess.freePort();
  private static final int STRICT_PORT = ServerProcess.freePort();
  private static final int STRANGE_PORT = ServerProcess.freePort();

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER =
      new LazyServer<>(() -> server(PORT, "server", "no"));

  @RegisterExtension
  static final LazyServer<RedisServer> STRICT =
      new LazyServer<>(() -> server(STRICT_PORT, "server", "yes"));

  @RegisterExtension
  static final LazyServer<RedisServer> STRANGE =
      new LazyServer<>(() -> server(STRANGE_PORT, "elsewhere", "no"));

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

  private static RedisServer server(int port, String certificate, String clients) {
    return RedisServer.with(
        "--appendonly",
        "no",
        "--tls-port",
        Integer.toString(port),
        "--tls-cert-file",
        certificates().file(certificate + ".pem"),
        "--tls-key-file",
        certificates().file(certificate + ".key"),
        "--tls-ca-cert-file",
        certificates().file("ca.pem"),
        "--tls-auth-clients",
        clients);
  }

  private static String uri(int port, String... parameters) {
    return uri(port, certificates(), parameters);
  }

  private static String uri(int port, Certificates trusted, String... parameters) {
    return of(port) + "&holdfast.tls-ca=" + trusted.file("ca.pem") + String.join("", parameters);
  }

  /** No time-out overtakes an error on a machine that stands still. */
  private static String of(int port) {
    return "rediss://127.0.0.1:" + port + "?holdfast.connect-timeout=1m";
  }

  /** The server's certificate is checked against the given authority; commands and messages both go through TLS. */
  @Test
  void serverWeTrust_isUsed() throws Exception {
    try (Holdfast one = Clients.connect(uri(PORT));
        Holdfast other = Clients.connect(uri(PORT))) {
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
    assertRefused(uri(PORT, others), "TLS", "holdfast.tls-ca");
    assertRefused(of(PORT), "TLS", "holdfast.tls-ca");
  }

  /** A certificate for another host: refused, unless we said that the name does not matter. */
  @Test
  void serverWithAnotherName_isRefused() throws Exception {
    assertRefused(uri(STRANGE_PORT), "127.0.0.1", "holdfast.tls-verify");
    for (String verify : new String[] {"ca", "none"}) {
      try (Holdfast client = Clients.connect(uri(STRANGE_PORT, "&holdfast.tls-verify=" + verify))) {
        assertThat(client.lock("x").acquire().release()).isTrue();
      }
    }
  }

  /** A server that asks for our certificate gets it; without one it is told that it was the certificate. */
  @Test
  void serverThatAsksForACertificate_getsOurs() throws Exception {
    String ours = "&holdfast.tls-cert=" + certificates().file("client.pem") + "&holdfast.tls-key="
        + certificates().file("client.key");
    try (Holdfast client = Clients.connect(uri(STRICT_PORT, ours))) {
      assertThat(client.lock("x").acquire().release()).isTrue();
    }
    assertRefused(uri(STRICT_PORT), "certificate", "holdfast.tls-cert");
  }

  /** Plain text and TLS do not meet; neither hangs. */
  @Test
  void plainTextAndTls_doNotMeet() {
    assertThatThrownBy(() -> Holdfast.connect("redis://127.0.0.1:" + PORT).close())
        .isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(
            () -> Holdfast.connect("rediss://127.0.0.1:" + SERVER.get().port()).close())
        .isInstanceOf(StoreUnavailableException.class);
  }

  private static void assertRefused(String uri, String... words) {
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).contains(words);
        });
  }
}
