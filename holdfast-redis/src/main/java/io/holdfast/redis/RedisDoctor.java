// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Ticker;
import io.holdfast.redis.RedisAcl.Version;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks at a server, or at all nodes of a cluster, with an operator's eyes. */
final class RedisDoctor {
  private static final int OLDEST_TESTED = 7;
  private static final Duration CLOCKS_APART = Duration.ofSeconds(1);

  private final RedisRoute route;
  private final Kind kind;
  private final Ticker ticker;
  private final RedisOptions options;
  private final boolean tls;

  /** What runs there, as the address says. */
  enum Kind {
    SINGLE,
    SENTINEL,
    CLUSTER
  }

  /** What was found at one server, and of which version it is. */
  private record Looked(List<Finding> findings, Version version) {}

  RedisDoctor(RedisRoute route, Kind kind, Ticker ticker, RedisOptions options, boolean tls) {
    this.route = route;
    this.kind = kind;
    this.ticker = ticker;
    this.options = options;
    this.tls = tls;
  }

  CompletionStage<List<Finding>> look() {
    List<CompletableFuture<Looked>> looks = new ArrayList<>();
    for (RedisNode node : route.nodes()) {
      looks.add(server(node).toCompletableFuture());
    }
    if (kind == Kind.CLUSTER && !route.nodes().isEmpty()) {
      looks.add(cluster(route.nodes().get(0)).toCompletableFuture());
    }
    return CompletableFuture.allOf(looks.toArray(CompletableFuture[]::new)).thenApply(all -> {
      List<Finding> findings = new ArrayList<>();
      looks.forEach(each -> findings.addAll(each.join().findings()));
      transport(findings);
      permissions(
          looks.stream()
              .map(each -> each.join().version())
              .min(Comparator.naturalOrder())
              .orElse(Version.UNKNOWN),
          findings);
      return List.copyOf(findings);
    });
  }

  private CompletionStage<Looked> server(RedisNode node) {
    return node.<String>ask(redis -> redis.info()).handle((text, failure) -> {
      List<Finding> findings = new ArrayList<>();
      Map<String, String> info = failure == null ? parse(text) : Map.of();
      if (failure == null) {
        version(info, findings);
        eviction(info, findings);
        persistence(info, findings);
        replication(info, findings);
        replicas(info, findings);
        inCluster(info, findings);
      } else {
        findings.add(unseen(node, failure));
      }
      clocks(node.clock(), findings);
      List<Finding> said =
          kind == Kind.CLUSTER ? findings.stream().map(each -> of(node, each)).toList() : findings;
      return new Looked(said, Version.of(info));
    });
  }

  private static Finding unseen(RedisNode node, Throwable failure) {
    String words = RedisErrors.words(node.describe(), failure);
    return RedisErrors.isRefusal(failure)
        ? new Finding(
            Level.WARNING,
            "server",
            "INFO was refused: " + words,
            "allow +info, so that doctor can look at eviction, persistence and replication")
        : new Finding(
            Level.PROBLEM,
            "server",
            "INFO was not answered: " + words,
            "find out why this server does not answer");
  }

  private static Finding of(RedisNode node, Finding finding) {
    return new Finding(
        finding.level(),
        finding.subject(),
        node.describe() + ": " + finding.message(),
        finding.advice());
  }

  private static CompletionStage<Looked> cluster(RedisNode node) {
    return node.<String>ask(redis -> redis.clusterInfo()).handle((text, failure) -> {
      String state = failure == null ? get(parse(text), "cluster_state") : "";
      Finding finding = state.equals("ok")
          ? new Finding(Level.OK, "cluster", "all slots are served", "")
          : new Finding(
              Level.PROBLEM,
              "cluster",
              failure == null
                  ? "the state is " + state + ": some slots have no node"
                  : "CLUSTER INFO was not answered: " + RedisErrors.words(node.describe(), failure),
              "look at CLUSTER NODES");
      return new Looked(List.of(finding), Version.UNKNOWN);
    });
  }

  static Map<String, String> parse(String text) {
    Map<String, String> info = new HashMap<>();
    text.lines().forEach(line -> {
      int colon = line.indexOf(':');
      if (colon > 0) {
        info.put(line.substring(0, colon), line.substring(colon + 1).trim());
      }
    });
    return info;
  }

  private static String get(Map<String, String> info, String key) {
    return info.getOrDefault(key, "");
  }

  static void version(Map<String, String> info, List<Finding> findings) {
    String version = get(info, "redis_version");
    Version known = Version.of(info);
    boolean tested = known.isKnown() && known.major() >= OLDEST_TESTED;
    findings.add(
        tested
            ? new Finding(Level.OK, "version", "Redis " + version, "")
            : new Finding(
                Level.WARNING,
                "version",
                "Redis " + (version.isEmpty() ? "of an unknown version" : version),
                "5 and 6 should work but are not tested; take 7 or newer"));
  }

  static void eviction(Map<String, String> info, List<Finding> findings) {
    String policy = get(info, "maxmemory_policy");
    boolean limited = !get(info, "maxmemory").equals("0");
    if (policy.equals("noeviction")) {
      findings.add(
          new Finding(Level.OK, "eviction", "noeviction: locks are never thrown away", ""));
    } else {
      findings.add(new Finding(
          limited ? Level.PROBLEM : Level.WARNING,
          "eviction",
          "maxmemory-policy is " + policy + (limited ? "" : ", without a limit at present")
              + ": a held lock can be thrown away",
          "set maxmemory-policy noeviction, or keep locks on a server of their own"));
    }
    if (!get(info, "evicted_keys").equals("0")) {
      findings.add(new Finding(
          Level.PROBLEM,
          "eviction",
          get(info, "evicted_keys") + " keys were thrown away since the server started",
          "some of them may have been locks: set maxmemory-policy noeviction"));
    }
  }

  static void persistence(Map<String, String> info, List<Finding> findings) {
    boolean aof = get(info, "aof_enabled").equals("1");
    boolean saves =
        !get(info, "rdb_last_save_time").isEmpty() && get(info, "loading").equals("0");
    findings.add(
        aof
            ? new Finding(
                Level.OK,
                "persistence",
                "append-only file",
                "only appendfsync always keeps every hold over a crash; everysec can forget the last second")
            : new Finding(
                Level.WARNING,
                "persistence",
                saves ? "no append-only file: a restart forgets locks" : "unknown",
                "set appendonly yes and appendfsync always, if holds shall survive a restart"));
    if (get(info, "aof_last_write_status").equals("err")
        || get(info, "rdb_last_bgsave_status").equals("err")) {
      findings.add(new Finding(
          Level.PROBLEM,
          "persistence",
          "the last write to disk failed",
          "look at the server's disk and log"));
    }
  }

  static void replication(Map<String, String> info, List<Finding> findings) {
    if (!get(info, "role").equals("master")) {
      findings.add(new Finding(
          Level.PROBLEM,
          "role",
          "this server is a replica",
          "the address must lead to the primary; locks cannot be taken here"));
    } else if (!get(info, "connected_slaves").equals("0")) {
      findings.add(new Finding(
          Level.WARNING,
          "replication",
          get(info, "connected_slaves") + " replicas follow asynchronously",
          "a failover to one of them can forget the last holds: check tokens where it matters"));
    } else {
      findings.add(new Finding(Level.OK, "replication", "no replicas", ""));
    }
  }

  private void replicas(Map<String, String> info, List<Finding> findings) {
    int wanted = options.replicas().wanted();
    String connected = get(info, "connected_slaves");
    if (wanted > 0 && connected.chars().allMatch(Character::isDigit) && !connected.isEmpty()) {
      boolean enough = Long.parseLong(connected) >= wanted;
      findings.add(new Finding(
          enough ? Level.OK : Level.PROBLEM,
          "replicas",
          connected + " of the " + wanted
              + " replicas that holdfast.replicas asks for are connected",
          enough ? "" : "no lock can be acquired or renewed: connect replicas, or ask for fewer"));
    }
  }

  private void inCluster(Map<String, String> info, List<Finding> findings) {
    if (get(info, "cluster_enabled").equals("1") && kind != Kind.CLUSTER) {
      findings.add(new Finding(
          Level.PROBLEM,
          "cluster",
          "this server is a node of a cluster",
          "redis:// is for a single server; write redis-cluster://"));
    }
  }

  private void clocks(RedisClock clock, List<Finding> findings) {
    Duration apart = Duration.between(Instant.ofEpochMilli(ticker.wallMillis()), clock.now());
    boolean near = apart.abs().compareTo(CLOCKS_APART) < 0;
    String message = "the server's clock is " + Math.abs(apart.toMillis()) + " ms "
        + (apart.isNegative() ? "behind" : "ahead of") + " ours";
    findings.add(new Finding(
        near ? Level.OK : Level.WARNING,
        "clock",
        message,
        near
            ? ""
            : "leases are measured by the server's clock alone, so nothing breaks; but one of the two is wrong, and"
                + " when the server's is put right by a step, leases end early or late"));
  }

  private void transport(List<Finding> findings) {
    findings.add(
        tls
            ? new Finding(Level.OK, "transport", "TLS", "")
            : new Finding(
                Level.WARNING,
                "transport",
                "no TLS, as far as the address says",
                "fine on this machine or a private network; elsewhere write rediss://"));
  }

  private void permissions(Version oldest, List<Finding> findings) {
    findings.add(new Finding(
        Level.OK,
        "permissions",
        "the user may do all that locks need",
        "the least that is needed: "
            + (kind == Kind.CLUSTER
                ? RedisAcl.cluster(oldest, options)
                : RedisAcl.single(oldest, options))));
  }
}
