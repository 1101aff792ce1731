// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RedisAcl.Version;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks at the nodes with an operator's eyes. */
final class RedlockDoctor {
  private final RedlockContext context;
  private final List<RedlockServer> servers;
  private final RedisOptions options;

  /**
   * One node.
   *
   * @param abstainsMicros for how long it does not vote; negative if it does not answer
   * @param server which server it is; empty if it does not answer
   */
  private record Node(
      List<Finding> findings, Version version, long abstainsMicros, String server) {}

  RedlockDoctor(RedlockContext context, List<RedlockServer> servers, RedisOptions options) {
    this.context = context;
    this.servers = servers;
    this.options = options;
  }

  CompletionStage<List<Finding>> look() {
    List<CompletableFuture<Node>> nodes = new ArrayList<>();
    for (RedlockServer server : servers) {
      nodes.add(look(server).toCompletableFuture());
    }
    return CompletableFuture.allOf(nodes.toArray(CompletableFuture[]::new)).thenApply(done -> {
      List<Node> looked = nodes.stream().map(CompletableFuture::join).toList();
      List<Finding> findings = new ArrayList<>();
      looked.forEach(node -> findings.addAll(node.findings));
      names(looked, findings);
      votes(looked, findings);
      clocks(findings);
      permissions(
          looked.stream().map(Node::version).min(Comparator.naturalOrder()).orElse(Version.UNKNOWN),
          findings);
      return List.copyOf(findings);
    });
  }

  private static CompletionStage<Node> look(RedlockServer server) {
    return server
        .look()
        .thenCompose(found -> server
            .link()
            .node()
            .<String>ask(redis -> redis.info())
            .thenApply(text -> looked(server, RedisDoctor.parse(text), found)))
        .exceptionally(failure -> new Node(
            List.of(new Finding(
                Level.PROBLEM,
                "node " + server.address(),
                "it cannot be used: " + RedisErrors.words(server.link().node().describe(), failure),
                "start this node, or make it reachable: a majority of the nodes must answer")),
            Version.UNKNOWN,
            -1,
            ""));
  }

  private static Node looked(
      RedlockServer server, Map<String, String> info, RedlockServer.Found found) {
    return new Node(
        findings(server, info, found.abstainsMicros()),
        Version.of(info),
        found.abstainsMicros(),
        found.run());
  }

  /** Each server has one vote, however many names lead to it. */
  private void names(List<Node> nodes, List<Finding> findings) {
    Map<String, String> addresses = new HashMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      String address = servers.get(i).address();
      String server = nodes.get(i).server;
      String other = server.isEmpty() ? null : addresses.putIfAbsent(server, address);
      if (other != null) {
        findings.add(new Finding(
            Level.PROBLEM,
            "node " + address,
            "it is one and the same server as " + other + ", and has one vote with it",
            "name servers of their own, by what stays with each of them"));
      }
    }
  }

  private static List<Finding> findings(
      RedlockServer server, Map<String, String> info, long abstainsMicros) {
    List<Finding> findings = new ArrayList<>();
    RedisDoctor.version(info, findings);
    RedisDoctor.eviction(info, findings);
    RedisDoctor.persistence(info, findings);
    RedisDoctor.replication(info, findings);
    if (abstainsMicros > 0) {
      findings.add(new Finding(
          Level.WARNING,
          "vote",
          "it may have forgotten locks, and does not vote for " + (abstainsMicros / 1_000_000 + 1)
              + " s more",
          "wait; it is new, was restarted, flushed, or evicted a key"));
    }
    return findings.stream()
        .map(each -> new Finding(
            each.level(),
            each.subject() + " of " + server.address(),
            each.message(),
            each.advice()))
        .toList();
  }

  private void votes(List<Node> nodes, List<Finding> findings) {
    long voting = nodes.stream()
        .filter(node -> node.abstainsMicros == 0)
        .map(Node::server)
        .distinct()
        .count();
    int majority = context.rule().majority();
    Level level =
        voting < majority ? Level.PROBLEM : voting < nodes.size() ? Level.WARNING : Level.OK;
    findings.add(new Finding(
        level,
        "majority",
        voting + " of " + nodes.size() + " nodes vote, " + majority
            + " are needed; leases are at most " + context.rule().maxLease().toSeconds() + " s",
        level == Level.OK ? "" : "see the nodes' own lines"));
  }

  private void clocks(List<Finding> findings) {
    long[] clocks = context.clocks();
    Arrays.sort(clocks);
    long apart = (clocks[clocks.length - 1] - clocks[0]) / 1000;
    boolean near = apart < context.rule().reachMicros() / 1000 / 10;
    findings.add(new Finding(
        near ? Level.OK : Level.WARNING,
        "clocks",
        "the nodes' clocks are within " + apart + " ms",
        near
            ? ""
            : "keep them together: a node whose clock is "
                + context.rule().reach().toSeconds() + " s from the others' does not vote"));
  }

  private void permissions(Version oldest, List<Finding> findings) {
    findings.add(new Finding(
        Level.OK,
        "permissions",
        "the user may do all that locks need, where a node answers",
        "the least that is needed, on each node: " + RedisAcl.redlock(oldest, options)));
  }
}
