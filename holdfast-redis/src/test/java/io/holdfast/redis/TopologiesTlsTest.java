// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS where there is more than one server: with sentinels and their primary, in a cluster, with Redlock. */
@Tag("stores")
class TopologiesTlsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  @SuppressWarnings("NullAway.Init")
  private static Certificates certificates;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void issue() {
    certificates = new Certificates(folder);
    certificates.issue("server", "ip:127.0.0.1");
    certificates.issue("client", "dns:client.example");
  }

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private static List<String> tls(int port, String clients) {
    return List.of(
        "tls-port",
        Integer.toString(port),
        "tls-cert-file",
        certificates.file("server.pem"),
        "tls-key-file",
        certificates.file("server.key"),
        "tls-ca-cert-file",
        certificates.file("ca.pem"),
        "tls-auth-clients",
        clients,
        "tls-replication",
        "yes");
  }

  private RedisServer server(int port, String clients, String... more) {
    List<String> options = new ArrayList<>(List.of("--appendonly", "no"));
    List<String> settings = tls(port, clients);
    for (int i = 0; i < settings.size(); i++) {
      options.add((i % 2 == 0 ? "--" : "") + settings.get(i));
    }
    options.addAll(Arrays.asList(more));
    RedisServer server = RedisServer.with(options.toArray(String[]::new));
    open.add(server);
    return server;
  }

  private static String parameters(String... more) {
    return "?holdfast.tls=true&holdfast.tls-ca=" + certificates.file("ca.pem")
        + String.join("", more);
  }

  /** Commands and messages both go through TLS. */
  private static void assertWorks(String uri) throws Exception {
    try (Holdfast one = client(uri);
        Holdfast other = client(uri)) {
      for (String name : List.of("x", "y", "z", "a", "b")) {
        Hold hold = one.lock(name).acquire();
        CompletableFuture<Hold> waiter = other.lock(name).acquireAsync();
        Await.until(
            "somebody waits",
            () -> one.admin().inspect(name).orElseThrow().waiters().known() == 1);
        assertThat(hold.release()).isTrue();
        assertThat(Await.value(waiter).release()).isTrue();
      }
    }
  }

  /** Six handshakes in a JVM that has made none before take their time on a busy machine. */
  private static Holdfast client(String uri) {
    return Holdfast.builder().store(uri).requestTimeout(Duration.ofSeconds(20)).build();
  }

  private static void assertRefused(String uri, String word) {
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).contains(word);
        });
  }

  /** The sentinel and the primary that it names are both asked through TLS. */
  @Test
  void sentinel() throws Exception {
    int primary = ServerProcess.freePort();
    server(primary, "no");
    int port = ServerProcess.freePort();
    sentinel(port, primary);
    String address = "redis-sentinel://127.0.0.1:" + port + "/mymaster";
    Await.until("the sentinel answers", () -> isFound(address + parameters()));
    assertWorks(address + parameters());
    assertRefused(address + "?holdfast.tls=true", "TLS");
    assertThatThrownBy(() -> Holdfast.connect(address).close())
        .isInstanceOf(StoreUnavailableException.class);
  }

  private void sentinel(int port, int primary) throws IOException {
    ServerProcess process = ServerProcess.of("redis-server");
    open.add(process);
    List<String> lines = new ArrayList<>(List.of(
        "port 0",
        "bind 127.0.0.1",
        "dir " + process.folder(),
        "sentinel monitor mymaster 127.0.0.1 " + primary + " 1"));
    List<String> settings = tls(port, "no");
    for (int i = 0; i < settings.size(); i += 2) {
      lines.add(settings.get(i) + " " + settings.get(i + 1));
    }
    Path file = process.folder().resolve("sentinel.conf");
    Files.write(file, lines);
    process.start(List.of(file.toString(), "--sentinel"));
  }

  private static boolean isFound(String uri) {
    try (Holdfast found = Holdfast.connect(uri)) {
      return found.admin().inspect("x").isEmpty();
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  /** The nodes that the cluster names are asked through TLS, as those of the address are. */
  @Test
  void cluster() throws Exception {
    int[] ports = {ServerProcess.freePort(), ServerProcess.freePort()};
    int[] bus = {ServerProcess.freePort(), ServerProcess.freePort()};
    RedisServer[] servers = new RedisServer[2];
    for (int i = 0; i < servers.length; i++) {
      servers[i] = server(
          ports[i],
          "no",
          "--cluster-enabled",
          "yes",
          "--tls-cluster",
          "yes",
          "--cluster-port",
          Integer.toString(bus[i]));
      int half = ClusterMap.SLOTS / 2;
      int[] slots = IntStream.range(i * half, (i + 1) * half).toArray();
      servers[i].call(redis -> redis.clusterAddSlots(slots));
    }
    servers[1].call(redis -> redis.clusterSetConfigEpoch(2));
    servers[0].call(redis -> redis.dispatch(
        CommandType.CLUSTER,
        new StatusOutput<>(StringCodec.UTF8),
        new CommandArgs<>(StringCodec.UTF8)
            .add("MEET")
            .add("127.0.0.1")
            .add(ports[1])
            .add(bus[1])));
    for (RedisServer each : servers) {
      Await.until(
          "all slots are served",
          () -> each.says(redis -> redis.clusterInfo().contains("cluster_state:ok")));
    }
    String address = "redis-cluster://127.0.0.1:" + ports[0];
    assertWorks(address + parameters());
    assertRefused(address + "?holdfast.tls=true", "TLS");
  }

  /** Every node gets our certificate, and has its own checked. */
  @Test
  void redlock() throws Exception {
    List<RedisServer> servers = new ArrayList<>();
    StringBuilder address = new StringBuilder("redlock://");
    for (int i = 0; i < 3; i++) {
      int port = ServerProcess.freePort();
      servers.add(server(port, "yes"));
      address.append(i == 0 ? "" : ",").append("127.0.0.1:").append(port);
    }
    RedlockRule rule = new RedlockRule(3, Duration.ofMinutes(1), RedlockRule.REACH);
    open.add(new RedlockNodes(rule, servers));
    String ours = "&holdfast.tls-cert=" + certificates.file("client.pem") + "&holdfast.tls-key="
        + certificates.file("client.key");
    assertWorks(address + parameters(ours));
    assertRefused(address + parameters(), "holdfast.tls-cert");
  }
}
