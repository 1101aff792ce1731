// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** TLS: whom we trust, what we show, and what belongs to whom. */
@Timeout(120)
@Tag("stores")
class ZooKeeperTlsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final int STRICT_PORT = ServerProcess.freePort();
  private static final int STRANGE_PORT = ServerProcess.freePort();

  @TempDir
  static Path folder;

  @TempDir
  static Path otherFolder;

  private static @Nullable Certificates certificates;

  @RegisterExtension
  static final LazyServer<ZooKeeperServer> STRICT =
      new LazyServer<>(() -> server(STRICT_PORT, "server", "need"));

  @RegisterExtension
  static final LazyServer<ZooKeeperServer> STRANGE =
      new LazyServer<>(() -> server(STRANGE_PORT, "elsewhere", "none"));

  private final String root = "/tls/" + ROOTS.incrementAndGet();

  /** What the servers are started with. */
  private static synchronized Certificates certificates() {
    Certificates issued = certificates;
    if (issued == null) {
      issued = new Certificates(folder);
      issued.issue("server", "ip:127.0.0.1,dns:localhost");
      issued.issue("elsewhere", "dns:elsewhere.example");
      issued.issue("client", "dns:client.example");
      certificates = issued;
    }
    return issued;
  }

  /** A server that asks its clients for certificates, or does not. */
  private static ZooKeeperServer server(int port, String name, String clients) {
    Path both = folder.resolve(name + "-both.pem");
    try {
      Files.writeString(
          both,
          Files.readString(Path.of(certificates().file(name + ".pem")))
              + Files.readString(Path.of(certificates().file(name + ".key"))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ZooKeeperServer.alone(
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
        "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider",
        "4lw.commands.whitelist=srvr,conf",
        "secureClientPortAddress=127.0.0.1",
        "secureClientPort=" + port,
        "ssl.keyStore.location=" + both,
        "ssl.keyStore.type=PEM",
        "ssl.trustStore.location=" + certificates().file("ca.pem"),
        "ssl.trustStore.type=PEM",
        "ssl.clientAuth=" + clients);
  }

  private String uri(int port, String... parameters) {
    return "zookeeper://127.0.0.1:" + port + root + "?holdfast.tls=true&holdfast.connect-timeout=2s"
        + String.join("", parameters);
  }

  private static String ca() {
    return "&holdfast.tls-ca=" + certificates().file("ca.pem");
  }

  private static String client() {
    return "&holdfast.tls-cert=" + certificates().file("client.pem") + "&holdfast.tls-key="
        + certificates().file("client.key");
  }

  /** Both sides show certificates: locks work, watches too, and the nodes belong to our certificate's subject. */
  @Test
  void certificatesOfBothSides_work() throws Exception {
    String uri = uri(STRICT_PORT, ca(), client());
    LockStore store = ZooKeeperStore.at(StoreAddress.parse(uri));
    try (Holdfast one = Holdfast.builder().store(store).build();
        Holdfast other = Clients.connect(uri)) {
      Hold hold = one.lock("x").acquire();
      CompletableFuture<Hold> waiter = other.lock("x").acquireAsync();
      Await.until(
          "somebody waits",
          () -> one.admin().inspect("x").orElseThrow().waiters().known() == 1);
      assertTrue(hold.release());
      assertTrue(Await.value(waiter).release());
    }
    ZooKeeperAddress address = new ZooKeeperAddress(StoreAddress.parse(uri));
    try (CuratorFramework curator = address.client(10_000)) {
      curator.start();
      List<ACL> acl = curator.getACL().forPath(root);
      assertEquals(1, acl.size());
      assertEquals("x509", acl.get(0).getId().getScheme());
      assertEquals("CN=holdfast test client", acl.get(0).getId().getId());
    } finally {
      address.close();
    }
  }

  /** The doctor asks each server behind TLS, with our certificate; one that shows another host's has not answered. */
  @Test
  void doctor_asksEachServer() {
    String nobody = "127.0.0.1:" + ServerProcess.freePort();
    String stranger = "127.0.0.1:" + STRANGE_PORT;
    String asked = "127.0.0.1:" + STRICT_PORT;
    String uri =
        uri(STRICT_PORT, ca(), client()).replace(asked, asked + "," + nobody + "," + stranger);
    LockStore store = ZooKeeperStore.at(StoreAddress.parse(uri));
    // of three servers two are of no use: the first contact may take longer than with one
    try (Holdfast connected =
        Holdfast.builder().store(store).requestTimeout(Duration.ofSeconds(20)).build()) {
      assertEquals("ZooKeeper", connected.guarantees().store());
      // which asks each server for a few seconds only
      List<Finding> found =
          Await.present("the server has answered the doctor", () -> answered(store, asked));
      assertFound(found, Finding.Level.OK, "encryption", "TLS");
      assertFound(
          found, Finding.Level.OK, "server " + asked, STRICT.get().version() + ", standalone");
      assertFound(found, Finding.Level.OK, "limits of " + asked, "tickTime");
      assertFound(found, Finding.Level.PROBLEM, "server " + nobody, "does not answer");
      assertFound(found, Finding.Level.PROBLEM, "server " + stranger, "does not answer");
    }
  }

  private static Optional<List<Finding>> answered(LockStore store, String server) {
    List<Finding> found = Await.value(store.diagnose().toCompletableFuture());
    return Optional.of(found).filter(all -> isFound(all, Finding.Level.OK, "server " + server, ""));
  }

  private static void assertFound(
      List<Finding> all, Finding.Level level, String subject, String part) {
    assertTrue(isFound(all, level, subject, part), () -> subject + " is not in " + all);
  }

  private static boolean isFound(
      List<Finding> all, Finding.Level level, String subject, String part) {
    return all.stream()
        .anyMatch(each -> each.level() == level
            && each.subject().equals(subject)
            && each.message().contains(part));
  }

  /** Certificate and key in two files: ZooKeeper's client gets one, which only we can read, and which goes with the store. */
  @Test
  void fileThatWasMade_goesWithTheStore() throws Exception {
    ZooKeeperAddress address =
        new ZooKeeperAddress(StoreAddress.parse(uri(STRICT_PORT, ca(), client())));
    List<Path> before = made();
    address.builder(10_000);
    List<Path> now = made();
    now.removeAll(before);
    assertEquals(1, now.size());
    assertEquals(
        "[OWNER_READ, OWNER_WRITE]",
        new java.util.TreeSet<>(Files.getPosixFilePermissions(now.get(0))).toString());
    address.close();
    assertFalse(Files.exists(now.get(0)));
  }

  private static List<Path> made() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return new java.util.ArrayList<>(files
          .filter(each -> each.getFileName().toString().startsWith("holdfast-tls"))
          .toList());
    }
  }

  /**
   * Who shows nothing where certificates are asked for, does not trust the server, or meets another host's: no
   * connection.
   */
  @Test
  void everythingElse_isRefused() {
    Certificates others = new Certificates(otherFolder);
    List<String> uris = List.of(
        uri(STRICT_PORT, ca()),
        uri(STRICT_PORT, client()),
        uri(STRICT_PORT, client(), "&holdfast.tls-ca=" + others.file("ca.pem")),
        uri(STRANGE_PORT, ca()),
        // nor does a connection without TLS get through at that port
        "zookeeper://127.0.0.1:" + STRICT_PORT + root);
    // side by side: each takes as long as the client has patience
    ExecutorService threads = Executors.newFixedThreadPool(uris.size());
    try {
      List<? extends Future<?>> all =
          uris.stream().map(uri -> threads.submit(() -> assertRefused(uri))).toList();
      for (Future<?> each : all) {
        assertDoesNotThrow(() -> each.get());
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static void assertRefused(String uri) {
    assertThrows(
        StoreUnavailableException.class,
        () -> Holdfast.builder()
            .store(uri)
            .requestTimeout(Duration.ofSeconds(3))
            .build()
            .close(),
        uri);
  }

  /** What does not go together is said before anything is sent. */
  @Test
  void parametersThatDoNotFit_areRefused() {
    String plain = "zookeeper://127.0.0.1:" + STRICT_PORT + root + "?";
    assertWrong(plain + ca().substring(1), "holdfast.tls=true");
    assertWrong(plain + "holdfast.tls=yes", "true or false");
    assertWrong(uri(STRICT_PORT, "&holdfast.tls-cert=" + certificates().file("client.pem")), "key");
    assertWrong(uri(STRICT_PORT, "&holdfast.tls-ca=/nowhere/ca.pem"), "/nowhere/ca.pem");
    assertEquals(
        "a:2281,b:2282",
        new ZooKeeperAddress(StoreAddress.parse("zookeeper://a,b:2282/x?holdfast.tls=true"))
            .servers());
  }

  private static void assertWrong(String uri, String part) {
    ConfigurationException wrong = assertThrows(
        ConfigurationException.class, () -> new ZooKeeperAddress(StoreAddress.parse(uri)));
    assertTrue(String.valueOf(wrong.getMessage()).contains(part), wrong::toString);
  }
}
