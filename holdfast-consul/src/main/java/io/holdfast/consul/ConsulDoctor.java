// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Looks at the cluster with an operator's eyes: a majority, the servers one by one, sessions, rights, version. */
final class ConsulDoctor {
  private static final LockKey PROBE = LockKey.of("doctor");

  private final ConsulContext context;
  private final boolean tls;

  ConsulDoctor(ConsulContext context, boolean tls) {
    this.context = context;
    this.tls = tls;
  }

  CompletableFuture<List<Finding>> look() {
    long before = context.runtime.ticker().nanos();
    return reach(before)
        .thenCombine(agent(), ConsulDoctor::joined)
        .thenCombine(servers(), ConsulDoctor::joined)
        .thenCombine(session(), ConsulDoctor::joined)
        .thenApply(findings -> joined(
            findings,
            List.of(
                tls
                    ? new Finding(Level.OK, "encryption", "TLS", "")
                    : new Finding(
                        Level.WARNING,
                        "encryption",
                        "none",
                        "use consuls:// wherever the network is not yours alone"))));
  }

  private static List<Finding> joined(List<Finding> one, List<Finding> other) {
    List<Finding> all = new ArrayList<>(one);
    all.addAll(other);
    return all;
  }

  /** A read that a majority agrees to, and that needs the right to write; fails with the meaning of the failure. */
  private CompletableFuture<List<Finding>> reach(long before) {
    return context
        .calls
        .txn(new ConsulTxn().isMissing(context.keys.wanted(PROBE)))
        .thenApply(seen -> {
          long micros = (context.runtime.ticker().nanos() - before) / 1000;
          return List.of(
              new Finding(Level.OK, "reach", "a majority answers, in " + micros + " us", ""),
              new Finding(Level.OK, "keys", "may be written", ""));
        });
  }

  private CompletableFuture<List<Finding>> agent() {
    return context
        .calls
        .json("/v1/agent/self?")
        .thenApply(self -> {
          Object config = Json.get(self, "Config");
          String name = Json.text(config, "NodeName");
          return List.of(new Finding(
              Level.OK,
              "agent",
              name + ", Consul " + Json.text(config, "Version") + ", datacenter "
                  + Json.text(config, "Datacenter"),
              ""));
        })
        .exceptionally(failure -> List.of(unseen("agent", failure, "agent read")));
  }

  private CompletableFuture<List<Finding>> servers() {
    return context
        .calls
        .json("/v1/status/peers?")
        .thenCombine(context.calls.json("/v1/status/leader?"), (peers, leader) -> {
          List<Finding> findings = new ArrayList<>();
          int count = Json.list(peers).size();
          findings.add(
              count >= 3
                  ? new Finding(Level.OK, "servers", Integer.toString(count), "")
                  : new Finding(
                      Level.WARNING,
                      "servers",
                      Integer.toString(count),
                      "three or more go on when one fails; fewer do not"));
          findings.add(
              leader instanceof String text && !text.isEmpty()
                  ? new Finding(Level.OK, "leader", text, "")
                  : new Finding(
                      Level.PROBLEM, "leader", "none", "is a majority of the servers there?"));
          return findings;
        })
        .exceptionally(failure -> new ArrayList<>(List.of(unseen("servers", failure, "none"))))
        .thenCombine(health(), ConsulDoctor::joined);
  }

  private CompletableFuture<List<Finding>> health() {
    return context
        .calls
        .health()
        .thenApply(health -> {
          List<Finding> findings = new ArrayList<>();
          for (Object each : Json.list(Json.get(health, "Servers"))) {
            boolean isWell = Boolean.TRUE.equals(Json.get(each, "Healthy"));
            boolean leads = Boolean.TRUE.equals(Json.get(each, "Leader"));
            findings.add(new Finding(
                isWell ? Level.OK : Level.PROBLEM,
                "server " + Json.text(each, "Name"),
                "Consul " + Json.text(each, "Version") + ", " + Json.text(each, "SerfStatus")
                    + (leads ? ", the leader" : "") + (isWell ? "" : ", not healthy"),
                isWell ? "" : "look at that machine"));
          }
          return findings;
        })
        .exceptionally(
            failure -> new ArrayList<>(List.of(unseen("health", failure, "operator read"))))
        .thenApply(List::copyOf);
  }

  /** Whether the servers give sessions as short as we think. */
  private CompletableFuture<List<Finding>> session() {
    long seconds = context.settings.shortestSession().toSeconds();
    return context
        .calls
        .createSession(context.settings.shortestSession(), context.settings.lockDelay())
        .thenApply(id -> {
          context.calls.destroySession(id);
          return List.of(new Finding(
              Level.OK,
              "sessions",
              seconds + " s to 24 h, lock-delay " + context.settings.lockDelay().toSeconds() + " s",
              ""));
        })
        .exceptionally(
            failure -> List.of(
                new Finding(
                    Level.PROBLEM,
                    "sessions",
                    "a session of " + seconds + " s was not given: " + context.calls.words(failure),
                    "the token needs session write; holdfast.session-ttl-min must be what the servers' session_ttl_min is")));
  }

  private Finding unseen(String subject, Throwable failure, String right) {
    return new Finding(
        Level.WARNING,
        subject,
        "could not be seen: " + context.calls.words(failure),
        "the locks do not need it; doctor does (the right: " + right + ")");
  }
}
