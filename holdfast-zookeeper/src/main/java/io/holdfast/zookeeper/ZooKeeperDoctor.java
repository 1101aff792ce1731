// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Looks at an ensemble with an operator's eyes. */
final class ZooKeeperDoctor {
  private final ZooKeeperSettings settings;
  private final ZooKeeperClients clients;
  private final ZooKeeperPaths paths;
  private final ZooKeeperSession session;

  ZooKeeperDoctor(
      ZooKeeperSettings settings,
      ZooKeeperClients clients,
      ZooKeeperPaths paths,
      ZooKeeperSession session) {
    this.settings = settings;
    this.clients = clients;
    this.paths = paths;
    this.session = session;
  }

  CompletionStage<List<Finding>> look() {
    Link link = session.link();
    if (link == null) {
      return CompletableFuture.failedFuture(ZooKeeperErrors.notConnected());
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(sessionLimits(link));
    return link.data(paths.format(), null).thenApply(format -> {
      findings.add(
          format.isOk()
              ? ok(
                  "root",
                  paths.root() + " is there, with format "
                      + NodeData.text(format.get().bytes()))
              : new Finding(
                  Level.PROBLEM,
                  "root",
                  paths.format() + " cannot be read: " + format.code(),
                  "give this user all permissions on " + paths.root() + " and below"));
      findings.add(access());
      return List.copyOf(findings);
    });
  }

  private Finding sessionLimits(Link link) {
    Duration granted = Duration.ofMillis(link.handle().getSessionTimeout());
    return ok(
        "session",
        "ZooKeeper grants a session of " + granted.toMillis() + " ms, enough for leases of "
            + settings.longestLease().toMillis() + " ms");
  }

  private Finding access() {
    boolean open = clients.acl().equals(org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE);
    return open
        ? new Finding(
            Level.WARNING,
            "access",
            "anybody who reaches the servers may change the locks",
            "log in: zookeeper://USER:PASSWORD@HOST, which makes nodes for that user only")
        : ok("access", "the nodes belong to who has logged in as we have");
  }

  private static Finding ok(String subject, String message) {
    return new Finding(Level.OK, subject, message, "");
  }
}
