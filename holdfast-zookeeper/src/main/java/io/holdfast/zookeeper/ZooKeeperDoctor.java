// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Looks at an ensemble with an operator's eyes: each server, the limits of sessions, what we may do below the root,
 * which other users may do it, and which locks are running out of claim numbers.
 */
final class ZooKeeperDoctor {
  private static final Duration PATIENCE = Duration.ofSeconds(4);
  private static final long CLOCK_OFF_MILLIS = 2000;
  private static final int EPOCH_SHIFT = 32;

  private final ZooKeeperSettings settings;
  private final ZooKeeperClients clients;
  private final ZooKeeperContext context;

  ZooKeeperDoctor(ZooKeeperSettings settings, ZooKeeperClients clients, ZooKeeperContext context) {
    this.settings = settings;
    this.clients = clients;
    this.context = context;
  }

  CompletionStage<List<Finding>> look() {
    Link link = context.sessions().main().link();
    if (link == null) {
      return CompletableFuture.failedFuture(context.contact().notConnected());
    }
    return servers(link)
        .thenCombine(sessionLimits(), ZooKeeperDoctor::joined)
        .thenCombine(root(link), ZooKeeperDoctor::joined)
        .thenCombine(mayCreate(link), ZooKeeperDoctor::joined)
        .thenCombine(access(link), ZooKeeperDoctor::joined)
        .thenCombine(new ClaimCounts(context, link).look(), ZooKeeperDoctor::joined)
        .thenApply(List::copyOf);
  }

  private static List<Finding> joined(List<Finding> one, List<Finding> other) {
    List<Finding> all = new ArrayList<>(one);
    all.addAll(other);
    return all;
  }

  private CompletableFuture<List<Finding>> servers(Link link) {
    boolean encrypted = link.isEncrypted();
    CompletableFuture<List<Finding>> all = CompletableFuture.completedFuture(List.of(
        encrypted
            ? ok("encryption", "TLS")
            : new Finding(
                Level.WARNING,
                "encryption",
                "none",
                "holdfast.tls=true wherever the network is not yours alone")));
    ServerWords words = new ServerWords(
        PATIENCE,
        context.runtime().ticker(),
        encrypted ? ServerWords.encryptedAs(link.handle().getClientConfig()) : ServerWords.PLAIN);
    for (String server : ServerWords.servers(clients.servers())) {
      all = all.thenCombine(server(words, server), ZooKeeperDoctor::joined);
    }
    return all;
  }

  private CompletableFuture<List<Finding>> server(ServerWords words, String server) {
    return words.ask(server, "srvr").handle((said, failure) -> said).thenCompose(said -> {
      List<Finding> findings = new ArrayList<>();
      findings.add(ServerReport.srvr(server, said));
      if (ServerReport.isAlone(said)) {
        findings.add(new Finding(
            Level.WARNING,
            "ensemble",
            "one server: no locks while it is down",
            "three or more go on when one fails"));
      }
      if (said == null) {
        return CompletableFuture.completedFuture(findings);
      }
      return words.ask(server, "conf").handle((conf, failure) -> {
        if (conf != null) {
          findings.addAll(ServerReport.conf(server, conf, settings));
        }
        return findings;
      });
    });
  }

  /** Opens the session for the longest lease, and sees how long it may last. */
  private CompletableFuture<List<Finding>> sessionLimits() {
    ZooKeeperSession session = context.sessions().forLease(settings.longestLease());
    // it stays for a minute
    session.leave();
    return session
        .first()
        .thenApply(link -> List.of(context
            .contact()
            .tooShort(link, settings.longestLease())
            .map(refused -> new Finding(
                Level.PROBLEM,
                "session",
                String.valueOf(refused.getMessage()),
                "until then such leases are refused"))
            .orElseGet(() -> ok(
                "session",
                "ZooKeeper grants one of "
                    + DurationText.exact(Duration.ofMillis(link.handle().getSessionTimeout()))
                    + ", enough for leases of " + DurationText.exact(settings.longestLease())))));
  }

  private CompletableFuture<List<Finding>> root(Link link) {
    return link.data(context.paths().format(), null)
        .thenApply(format -> List.of(
            format.isOk()
                ? ok(
                    "root",
                    context.paths().root() + " is there, with format "
                        + NodeData.text(format.get().bytes()))
                : refused("cannot read " + context.paths().format(), format)));
  }

  /** Makes a node as a claim does, and takes it away. */
  private CompletableFuture<List<Finding>> mayCreate(Link link) {
    String path = context.paths().root() + "/doctor-" + UUID.randomUUID();
    return link.create(path, new byte[0], clients.acl(), CreateMode.EPHEMERAL).thenCompose(made -> {
      if (!made.isOk()) {
        return CompletableFuture.completedFuture(
            List.of(refused("cannot make nodes below " + context.paths().root(), made)));
      }
      List<Finding> findings = new ArrayList<>(epochAndClock(made.get().stat()));
      return link.delete(path, -1).thenApply(deleted -> {
        findings.add(
            deleted.isOk()
                ? ok("permissions", "nodes can be made and deleted")
                : refused("cannot delete nodes below " + context.paths().root(), deleted));
        return findings;
      });
    });
  }

  private Finding refused(String what, Reply<?> reply) {
    return new Finding(
        Level.PROBLEM,
        "permissions",
        what + ": " + reply.code(),
        "give this user create, read, write and delete on " + context.paths().root()
            + " and below");
  }

  private List<Finding> epochAndClock(Stat made) {
    List<Finding> findings = new ArrayList<>();
    long epoch = made.getCzxid() >> EPOCH_SHIFT;
    long most = Grant.REVISION_LIMIT >> EPOCH_SHIFT;
    if (made.getCzxid() >= Grant.REVISION_LIMIT / 2) {
      findings.add(new Finding(
          Level.WARNING,
          "epoch",
          "leader " + epoch + " of the " + most + " whose numbers fit into a token",
          "set up a new ensemble before that, with another root and guards that start again"));
    }
    long off = made.getCtime() - context.runtime().ticker().wallMillis();
    if (Math.abs(off) > CLOCK_OFF_MILLIS) {
      findings.add(new Finding(
          Level.WARNING,
          "clock",
          "the leader's clock differs from ours by "
              + DurationText.of(Duration.ofMillis(Math.abs(off))),
          "only kept locks (holdAtLeast) are measured by it; keep the clocks in step"));
    }
    return findings;
  }

  private CompletableFuture<List<Finding>> access(Link link) {
    return link.acl(context.paths().root()).thenApply(acl -> {
      if (!acl.isOk()) {
        return List.of(new Finding(
            Level.WARNING, "access", "the ACL of the locks cannot be read: " + acl.code(), ""));
      }
      return List.of(
          isOpen(acl.get())
              ? new Finding(
                  Level.WARNING,
                  "access",
                  "every client that reaches the servers may change the locks",
                  clients.isGiven()
                      ? "give the store settings with an ACL (withAcl), and a root that is not there yet"
                      : "log in: zookeeper://USER:PASSWORD@HOST, with a root that is not there yet")
              : ok("access", "only clients that have logged in may change the locks"));
    });
  }

  private static boolean isOpen(List<ACL> acl) {
    return acl.stream()
        .anyMatch(each -> each.getId().equals(ZooDefs.Ids.ANYONE_ID_UNSAFE)
            && (each.getPerms() & ~ZooDefs.Perms.READ) != 0);
  }

  private static Finding ok(String subject, String message) {
    return new Finding(Level.OK, subject, message, "");
  }
}
