// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What docs/operations.md has for a store's own console is there, for a lock that one client holds and another one waits for. The servers are
 * real; each command is put into the server's own protocol here, since the consoles' programs are not on every machine.
 */
@Tag("stores")
class OperationsConsolesTest {
  private static final Path PAGE = Path.of("..", "docs", "operations.md");
  private static final String LOCK = "nightly";

  @RegisterExtension
  final Processes processes = new Processes();

  /** Looks while one client holds the lock, and another one waits for it. */
  @FunctionalInterface
  private interface Look {
    void at(Hold held) throws Exception;
  }

  private static void whileHeld(String uri, Look look) throws Exception {
    try (Holdfast holder = Holdfast.connect(uri);
        Holdfast waiter = Holdfast.connect(uri)) {
      LockOptions options =
          LockOptions.builder().leaseFor(Duration.ofSeconds(15)).note("a note").build();
      DistributedLock waits = waiter.lock(LOCK, options);
      try (Hold held = holder.lock(LOCK, options).acquire()) {
        CompletableFuture<Hold> waiting = waits.acquireAsync();
        look.at(held);
        assertThat(waiting.cancel(false)).isTrue();
      }
    }
  }

  /** What the page shows, as it stands there. */
  private static String shown(String pattern) throws IOException {
    Matcher found = Pattern.compile(pattern, Pattern.DOTALL).matcher(Files.readString(PAGE));
    assertThat(found.find()).as("%s on the page", pattern).isTrue();
    return found.group(1);
  }

  /** The lines that Redis answers to what stands behind redis-cli. */
  private static List<String> redis(RedisProcess server, String command) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      byte[] request = (command + "\r\nQUIT\r\n").getBytes(StandardCharsets.UTF_8);
      socket.getOutputStream().write(request);
      String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      List<String> lines = new ArrayList<>(List.of(all.split("\r\n", -1)));
      lines.removeIf(line -> line.matches("[*$]-?\\d+|\\+OK|"));
      return lines;
    }
  }

  @Test
  void redis() throws Exception {
    String script = shown("```lua\n(.*?)```").replace('\n', ' ');
    String eval = "EVAL \"" + script + "\" 1 'holdfast:{nightly}'";
    assertThat(script).doesNotContain("\"", "\\");
    try (RedisProcess server = new RedisProcess()) {
      assertThat(redis(server, eval)).containsExactly("free");
      String uri = "redis://" + server.address();
      whileHeld(uri, held -> {
        List<String> said = redis(server, eval);
        assertThat(said.subList(0, 3))
            .containsExactly("held", "format 2", "revision " + held.token() / 256);
        assertThat(said.get(3)).matches("[\\d.]+ s left");
        assertThat(said.get(4)).contains("a note");
        assertThat(redis(
                server,
                shown("`redis-cli --scan --pattern ('holdfast:\\{\\*\\}')`")
                    .replaceFirst("^", "KEYS ")))
            .contains("holdfast:{nightly}");
        String queue = shown("`redis-cli (ZRANGE [^`]+)`");
        Await.until("it waits", () -> redis(server, queue).size() == 1, server::log);
        String client = redis(server, queue).get(0).split("-", 2)[0];
        String waiters = shown("`redis-cli (HGETALL 'holdfast:\\{nightly\\}:w')`");
        assertThat(redis(server, waiters).get(0)).startsWith(client);
        String listening = shown("`redis-cli (PUBSUB CHANNELS [^`]+)`");
        assertThat(String.join(" ", redis(server, listening))).contains(client);
      });
      try (Holdfast holdfast = Holdfast.connect(uri)) {
        LockOptions kept =
            LockOptions.builder().holdAtLeast(Duration.ofHours(1)).build();
        holdfast.lock(LOCK, kept).acquire().close();
        assertThat(redis(server, eval).get(0)).isEqualTo("kept");
      }
    }
  }

  @Test
  void zooKeeper() throws Exception {
    String folder = shown("get -s (/holdfast/\\d+/nightly)/");
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      ZooKeeper console = new ZooKeeper(server.address(), 10_000, event -> {});
      try {
        zooKeeper("zookeeper://" + server.address(), console, folder);
      } finally {
        console.close();
      }
    }
  }

  private static void zooKeeper(String uri, ZooKeeper console, String folder) throws Exception {
    whileHeld(uri, held -> {
      Await.until("it waits", () -> console.getChildren(folder, false).size() == 2, uri::toString);
      List<String> places = new ArrayList<>(console.getChildren(folder, false));
      places.sort((one, two) -> place(one).compareTo(place(two)));
      assertThat(places).allMatch(each -> each.matches("q-[0-9a-f]+-\\d+-[0-9a-f]+-_\\d{10}"));
      String first = folder + "/" + places.get(0);
      assertThat(ZKUtil.listSubTreeBFS(console, "/holdfast")).contains(first);
      Stat stat = new Stat();
      String data = new String(console.getData(first, false, stat), StandardCharsets.UTF_8);
      assertThat(data).contains("a note", Long.toString(ProcessHandle.current().pid()));
      assertThat(stat.getCzxid() * 256).isEqualTo(held.token());
      assertThat(stat.getEphemeralOwner()).isNotZero();
    });
    try (Holdfast holdfast = Holdfast.connect(uri)) {
      LockOptions kept = LockOptions.builder()
          .leaseFor(Duration.ofSeconds(15))
          .holdAtLeast(Duration.ofMinutes(10))
          .build();
      holdfast.lock(LOCK, kept).acquire().close();
      assertThat(console.getChildren(folder, false)).anyMatch(each -> each.matches("kept-\\d+"));
    }
  }

  private static String place(String node) {
    return node.substring(node.lastIndexOf('_'));
  }

  @Test
  void etcd() throws Exception {
    String prefix = shown("etcdctl get --prefix \\$'([^']+)' --sort-by=CREATE --order=ASCEND\n")
        .replace("\\t", "\t");
    try (EtcdServer server = EtcdServer.with()) {
      whileHeld(server.uri(), held -> {
        Await.until(
            "it waits",
            () -> field(range(server, prefix, 0), "count").equals("2"),
            () -> range(server, prefix, 0));
        String first = range(server, prefix, 1);
        assertThat(Long.parseLong(field(first, "create_revision")) * 256).isEqualTo(held.token());
        String value =
            new String(Base64.getDecoder().decode(field(first, "value")), StandardCharsets.UTF_8);
        assertThat(value).contains("CLAIM", "a note");
        String left =
            server.call("/v3/lease/timetolive", "{\"ID\":\"" + field(first, "lease") + "\"}");
        assertThat(Long.parseLong(field(left, "TTL"))).isPositive();
      });
    }
  }

  /** By the server's gateway for JSON: all keys with a prefix, the oldest first. */
  private static String range(EtcdServer server, String prefix, int limit) {
    String end =
        prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1);
    return server.call(
        "/v3/kv/range",
        "{\"key\":\"" + base64(prefix) + "\",\"range_end\":\"" + base64(end)
            + "\",\"sort_order\":\"ASCEND\",\"sort_target\":\"CREATE\",\"limit\":" + limit + "}");
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void consul() throws Exception {
    String key = shown("consul kv get -detailed '([^']+)'");
    String session = shown("curl http://127.0.0.1:8500(/v1/session/info/)SESSION");
    String keys = shown("consul kv get -keys '([^']+)'");
    String wanted = shown("The key `([^`]+)` exists while a client waits");
    try (ConsulServer server = ConsulServer.with()) {
      whileHeld(server.uri(), held -> {
        String entry = server.call("GET", "/v1/kv/" + key, "");
        assertThat(Long.parseLong(number(entry, "ModifyIndex")) * 256).isEqualTo(held.token());
        String value =
            new String(Base64.getDecoder().decode(field(entry, "Value")), StandardCharsets.UTF_8);
        assertThat(value).contains("a note");
        assertThat(server.call("GET", session + field(entry, "Session"), ""))
            .contains(field(entry, "Session"));
        Await.until(
            "it waits",
            () -> server.call("GET", "/v1/kv/" + keys + "?keys", "").contains(wanted),
            () -> server.call("GET", "/v1/kv/" + keys + "?keys", ""));
        assertThat(server.call("GET", "/v1/kv/" + keys + "?keys", "")).contains(key);
      });
    }
  }

  private static String field(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\": ?\"([^\"]+)\"").matcher(json);
    assertThat(found.find()).as("%s in %s", name, json).isTrue();
    return found.group(1);
  }

  private static String number(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\": ?(\\d+)").matcher(json);
    assertThat(found.find()).as("%s in %s", name, json).isTrue();
    return found.group(1);
  }

  @Test
  void sqlite() throws Exception {
    String select = shown("sqlite3 locks.db '([^']+)'");
    Job holder = processes.holdfast("run", LOCK, "sh", "-c", "echo $$ >holder.pid; exec sleep 600");
    processes.pid("holder.pid");
    try (Connection console =
            DriverManager.getConnection("jdbc:sqlite:" + processes.file("test.db"));
        Statement statement = console.createStatement();
        ResultSet rows = statement.executeQuery(select)) {
      assertThat(rows.next()).as(holder::toString).isTrue();
      assertThat(rows.getString("name")).isEqualTo(LOCK);
    }
    String line =
        "nightly  held by \\S+ \\(host \\S+, pid \\d+\\) for [\\d.]+ m?s(, 1 waiting)?\n?";
    assertThat(shown("a line for each lock that is taken or waited for: `([^`]+)`"))
        .matches(line);
    assertThat(processes.holdfast("ls").untilStdout("\n").stdout()).matches(line);
  }

  /** The line for cron, up to where it writes. */
  @Test
  void doctor_inCron() throws IOException {
    Files.writeString(processes.file("address"), processes.store());
    String line =
        shown("\\*/5 \\* \\* \\* \\* /usr/local/bin/holdfast ([^>]+) > /var/tmp/doctor.json"
            + " \\|\\| logger -t locks");
    assertThat(processes.holdfast("run", "any", "true").exitCode()).isZero();
    String[] words =
        line.replace("@/etc/holdfast.store", "@" + processes.file("address")).split(" ", -1);
    Job job = processes.holdfast(words);
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).contains("\"healthy\"", "\"level\"");
  }
}
