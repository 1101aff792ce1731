// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The lines of docs/schemes.md for the consoles of Redis, ZooKeeper, etcd and Consul: each has the effect that stands behind it. The
 * servers are real; the consoles are not, since their programs are not on every machine: each command is put into the server's own
 * protocol here.
 */
@Tag("stores")
class SchemesConsolesTest {
  private static final Path PAGE = Path.of("..", "docs", "schemes.md");
  private static final Pattern LINE = Pattern.compile("([ABC])> (.*\\S) +# ([^:]+)(: .*)?");

  /** What a console answers to a command. */
  @FunctionalInterface
  private interface Consoles {
    String shown(String console, String command) throws Exception;
  }

  private static void replay(String language, int expected, Consoles consoles) throws Exception {
    List<String> blocks = Pattern.compile("(?s)```" + language + "\n(.*?)```")
        .matcher(Files.readString(PAGE))
        .results()
        .map(found -> found.group(1))
        .toList();
    assertThat(blocks).hasSize(expected);
    for (String block : blocks) {
      for (String line : block.lines().toList()) {
        Matcher parts = LINE.matcher(line);
        assertThat(parts.matches())
            .as("a console, a command and its effect: %s", line)
            .isTrue();
        assertThat(consoles.shown(parts.group(1), parts.group(2)))
            .as(line)
            .isEqualTo(parts.group(3));
      }
    }
  }

  @Test
  void redis() throws Exception {
    try (RedisProcess server = new RedisProcess()) {
      replay("redis", 1, (console, command) -> server.ask(command).replaceFirst("^[+:]", ""));
    }
  }

  @Test
  void zooKeeper() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone();
        ZooKeeperConsoles consoles = new ZooKeeperConsoles(server.address())) {
      replay("zookeeper", 2, consoles);
    }
  }

  /** Each console is a session; a watch that fires is noted by its console. */
  private static final class ZooKeeperConsoles implements Consoles, AutoCloseable {
    private static final int SESSION_MILLIS = 60_000;

    private final String address;
    private final Map<String, ZooKeeper> sessions = new LinkedHashMap<>();
    private final List<String> watching = new ArrayList<>();
    private final Map<String, String> told = new ConcurrentHashMap<>();

    ZooKeeperConsoles(String address) {
      this.address = address;
    }

    private ZooKeeper session(String console) throws IOException {
      ZooKeeper known = sessions.get(console);
      if (known == null) {
        known = new ZooKeeper(address, SESSION_MILLIS, event -> {});
        sessions.put(console, known);
      }
      return known;
    }

    @Override
    public String shown(String console, String command) throws Exception {
      List<String> words = List.of(command.split(" "));
      String path = words.get(words.size() - 1);
      ZooKeeper session = session(console);
      switch (words.get(0)) {
        case "create" -> {
          return created(session, words, path);
        }
        case "stat" -> {
          assertThat(session.exists(
                  path, event -> told.put(console, event.getType().name())))
              .isNotNull();
          watching.add(console);
          return "a watch";
        }
        case "delete" -> {
          session.delete(path, -1);
          Await.until(
              "those that watch are told",
              () -> told.keySet().containsAll(watching),
              told::toString);
          String answer =
              watching.isEmpty() ? "deleted" : String.join(" and ", watching) + " are told";
          watching.clear();
          return answer;
        }
        case "ls" -> {
          return String.join(
              ", ", session.getChildren(path, false).stream().sorted().toList());
        }
        default -> throw new IllegalArgumentException(command);
      }
    }

    private static String created(ZooKeeper session, List<String> words, String path)
        throws Exception {
      CreateMode mode = !words.contains("-e")
          ? CreateMode.PERSISTENT
          : words.contains("-s") ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
      try {
        String name = session.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
        return mode == CreateMode.EPHEMERAL_SEQUENTIAL
            ? "Created " + name.substring(name.lastIndexOf('/') + 1)
            : "Created";
      } catch (KeeperException.NodeExistsException e) {
        return "Node already exists";
      }
    }

    @Override
    public void close() throws IOException {
      try {
        for (ZooKeeper session : sessions.values()) {
          session.close();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }
  }

  @Test
  void etcd() throws Exception {
    try (EtcdServer server = EtcdServer.with()) {
      EtcdConsoles consoles = new EtcdConsoles(server);
      replay("etcd", 1, consoles);
    }
  }

  /** By the server's gateway for JSON. The page's lease is L. */
  private static final class EtcdConsoles implements Consoles {
    private final EtcdServer server;
    private String lease = "";

    EtcdConsoles(EtcdServer server) {
      this.server = server;
    }

    @Override
    public String shown(String console, String command) {
      Matcher parts = Pattern.compile(
              "etcdctl (lease grant (?<ttl>\\d+)|put (?<key>\\S+) (?<value>\\S+)(?<lease> --lease=L)?|del (?<deleted>\\S+)|lease keep-alive --once L)")
          .matcher(command);
      assertThat(parts.matches()).as(command).isTrue();
      if (parts.group("ttl") != null) {
        lease = first(server.call("/v3/lease/grant", "{\"TTL\":" + parts.group("ttl") + "}"), "ID");
        return "lease L";
      }
      if (parts.group("key") != null) {
        String with = parts.group("lease") == null ? "" : ",\"lease\":" + lease;
        String put = "{\"key\":\"" + base64(parts.group("key")) + "\",\"value\":\""
            + base64(parts.group("value")) + "\"" + with + "}";
        assertThat(server.call("/v3/kv/put", put)).contains("\"revision\"");
        return "OK";
      }
      if (parts.group("deleted") != null) {
        String range = "{\"key\":\"" + base64(parts.group("deleted")) + "\"}";
        return first(server.call("/v3/kv/deleterange", range), "deleted");
      }
      return "TTL(" + first(server.call("/v3/lease/keepalive", "{\"ID\":" + lease + "}"), "TTL")
          + ")";
    }

    private static String base64(String text) {
      return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** What counts is the lock-delay of the session that has ended: the page's second one has Consul's default. */
  @Test
  void consul() throws Exception {
    try (ConsulServer server = ConsulServer.with()) {
      Map<String, String> sessions = new LinkedHashMap<>();
      replay("consul", 1, (console, command) -> consulShown(server, sessions, console, command));
    }
  }

  /** As the page says in the end: with a lock-delay, the second one does not get the lock yet. */
  @Test
  void consul_withTheLockDelay_refuses() throws Exception {
    try (ConsulServer server = ConsulServer.with()) {
      Map<String, String> sessions = new LinkedHashMap<>();
      List<String> last = new ArrayList<>();
      Pattern line = Pattern.compile("(?m)^([AB])> (curl .*\\S) +# .*$");
      for (MatchResult found : line.matcher(Files.readString(PAGE)).results().toList()) {
        String command = found.group(2).replace(", \"LockDelay\": \"0s\"", "");
        last.add(consulShown(server, sessions, found.group(1), command));
      }
      assertThat(last).endsWith("session SB", "false");
    }
  }

  private static String consulShown(
      ConsulServer server, Map<String, String> sessions, String console, String command) {
    Matcher parts = Pattern.compile("curl -X PUT(?: -d ('[^']*'|\\S+))? localhost:8500(\\S+)")
        .matcher(command);
    assertThat(parts.matches()).as(command).isTrue();
    String body = parts.group(1) == null ? "" : parts.group(1).replace("'", "");
    String path = parts.group(2);
    for (Map.Entry<String, String> session : sessions.entrySet()) {
      path = path.replace(session.getKey(), session.getValue());
    }
    String answer = server.call("PUT", path, body).strip();
    if (path.endsWith("/session/create")) {
      sessions.put("S" + console, first(answer, "ID"));
      return "session S" + console;
    }
    return answer;
  }

  private static String first(String json, String field) {
    Matcher found = Pattern.compile("\"" + field + "\": ?\"([^\"]+)\"").matcher(json);
    assertThat(found.find()).as("%s in %s", field, json).isTrue();
    return found.group(1);
  }
}
