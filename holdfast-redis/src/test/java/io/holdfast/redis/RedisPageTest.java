// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedisAcl.Version;
import io.holdfast.spi.Finding.Level;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server with the settings that the page for operators shows: it takes them, and locks are safe and usable there. */
@Tag("stores")
class RedisPageTest {
  /** Surefire starts tests in their module's folder. */
  private static final Path PAGE = Path.of("..", "docs", "operations.md");

  @TempDir
  Path folder;

  private static List<String> blocks() throws IOException {
    return Pattern.compile("(?s)```conf\n(.*?)```")
        .matcher(Files.readString(PAGE))
        .results()
        .map((MatchResult block) -> block.group(1))
        .toList();
  }

  private String written(String name, String settings) throws IOException {
    return Files.writeString(folder.resolve(name), settings).toString();
  }

  @Test
  void thePagesSettings_keepLocks() throws Exception {
    try (RedisServer server =
        RedisServer.with("--include", written("one", blocks().get(0)))) {
      assertKept(server);
      String uri = server.uri().replace("//", "//jobs:secret@");
      assertUsable(uri);
      assertThat(Diagnosis.of(uri).findings())
          .allMatch(each -> each.level() == Level.OK
              || each.subject()
                  .equals("transport")); // this address is not that of another machine
      assertThatThrownBy(() -> Clients.connect(uri + "?holdfast.prefix=other:").close())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
    }
  }

  /** The second block is for each server that has a replica, or may become one. */
  @Test
  void thePagesSettingsForReplicas_refuseWhatNoReplicaHas() throws Exception {
    String both = written("both", blocks().get(0) + blocks().get(1));
    try (RedisServer primary =
        RedisServer.with("--include", both, "--repl-diskless-sync-delay", "0")) {
      String uri = primary.uri().replace("//", "//jobs:secret@") + replicas();
      assertThatThrownBy(() -> Diagnosis.of(uri).findings()).hasStackTraceContaining("NOREPLICAS");
      try (RedisServer replica = RedisServer.with(
          "--include", both, "--replicaof", "127.0.0.1", Integer.toString(primary.port()))) {
        primary.awaitReplica(replica);
        assertKept(primary);
        assertKept(replica);
        assertUsable(uri);
        assertThat(Diagnosis.of(uri).findings())
            .noneMatch(each -> each.level() == Level.PROBLEM)
            .anyMatch(each -> each.subject().equals("replicas") && each.level() == Level.OK);
      }
    }
  }

  /** So that the page is changed when locks need another command. */
  @Test
  void thePagesUser_isTheOneThatDoctorNames() throws Exception {
    RedisOptions replicated =
        RedisOptions.of(RedisSettings.builder().replicas(1).build());
    String line = RedisAcl.single(Version.UNKNOWN, replicated)
        .replace("ACL SETUSER NAME", "user jobs")
        .replace(">PASSWORD", ">secret");
    assertThat(blocks().get(0).lines()).contains(line);
  }

  /** What follows the host in the page's address for replicas. */
  private static String replicas() throws IOException {
    return Pattern.compile("(?m)^redis://jobs:secret@[^?/]+([?]holdfast[.]replicas=.*)$")
        .matcher(Files.readString(PAGE))
        .results()
        .findFirst()
        .orElseThrow()
        .group(1);
  }

  private static void assertKept(RedisServer server) {
    for (Map.Entry<String, String> each : Map.of(
            "appendonly", "yes", "appendfsync", "always", "maxmemory-policy", "noeviction")
        .entrySet()) {
      Map<String, String> set = server.call(redis -> redis.configGet(each.getKey()));
      assertThat(set).containsEntry(each.getKey(), each.getValue());
    }
  }

  private static void assertUsable(String uri) throws Exception {
    try (Holdfast holder = Clients.connect(uri);
        Holdfast next = Clients.connect(uri)) {
      Hold hold = holder.lock("nightly").acquire();
      CompletableFuture<Hold> waiting = next.lock("nightly").acquireAsync();
      Await.until(
          "it waits",
          () -> holder.admin().inspect("nightly").orElseThrow().waiters().known() == 1);
      assertThat(holder.admin().list("")).hasSize(1);
      assertThat(hold.release()).isTrue();
      Hold after = Await.value(waiting);
      assertThat(after.token()).isGreaterThan(hold.token());
      assertThat(after.release()).isTrue();
    }
  }
}
