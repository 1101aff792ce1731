// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;

/** Connects, looks whether the session is long enough, and makes the root, or checks that what is there is ours. */
final class FirstContact {
  private final String store;
  private final ZooKeeperSettings settings;
  private final ZooKeeperClients clients;
  private final ZooKeeperPaths paths;
  private final ZooKeeperSession session;
  private final AtomicBoolean begun = new AtomicBoolean();

  FirstContact(
      String store,
      ZooKeeperSettings settings,
      ZooKeeperClients clients,
      ZooKeeperPaths paths,
      ZooKeeperSession session) {
    this.store = store;
    this.settings = settings;
    this.clients = clients;
    this.paths = paths;
    this.session = session;
  }

  /** Makes it; again, after it failed. */
  CompletionStage<@Nullable Void> make() {
    if (begun.compareAndSet(false, true)) {
      session.start();
    } else {
      session.startAgain();
    }
    return session.first().thenCompose(ready -> {
      Link link = session.link();
      if (link == null) {
        return CompletableFuture.failedFuture(ZooKeeperErrors.notConnected());
      }
      Duration least = clients.isGiven()
          ? settings.longestLease()
          : ZooKeeperSessions.mainLease(settings.longestLease());
      Optional<ConfigurationException> tooShort = tooShort(link, least);
      if (tooShort.isPresent()) {
        return CompletableFuture.failedFuture(tooShort.get());
      }
      return root(link);
    });
  }

  /** Says what is to be done if a session does not last long enough for a lease. */
  Optional<ConfigurationException> tooShort(Link link, Duration lease) {
    Duration granted = Duration.ofMillis(link.handle().getSessionTimeout());
    Duration needed = lease.plus(settings.tick());
    if (granted.compareTo(needed) >= 0) {
      return Optional.empty();
    }
    return Optional.of(new ConfigurationException(
        "a lease of " + DurationText.exact(lease) + " needs a session of "
            + DurationText.exact(Duration.ofMillis(ZooKeeperSessions.millisUp(needed)))
            + ", but ZooKeeper grants one of " + DurationText.exact(granted) + ": "
            + (clients.isGiven()
                ? "give the client a longer session timeout, or the store a shorter longestLease"
                : "raise the servers' maxSessionTimeout, or ask for shorter leases (holdfast.longest-lease)"),
        store,
        null));
  }

  private CompletionStage<@Nullable Void> root(Link link) {
    for (String path : paths.ancestors()) {
      // what is there already is as good; whatever is wrong shows below
      Link.unasked(link.create(path, new byte[0], clients.acl(), CreateMode.PERSISTENT));
    }
    byte[] format = NodeData.bytes(NodeData.FORMAT);
    CompletableFuture<Reply<Reply.Created>> made =
        link.create(paths.format(), format, clients.acl(), CreateMode.PERSISTENT);
    return link.data(paths.format(), null)
        .thenCombine(made, this::check)
        .thenCompose(checked -> checked);
  }

  private CompletionStage<@Nullable Void> check(
      Reply<Reply.Data> found, Reply<Reply.Created> made) {
    if (!found.isOk()) {
      Reply<?> why = found.isAbsent() ? made : found;
      return CompletableFuture.failedFuture(
          ZooKeeperErrors.of("could not make or read " + paths.format(), why));
    }
    String format = NodeData.text(found.get().bytes());
    if (!format.equals(NodeData.FORMAT)) {
      return CompletableFuture.failedFuture(new ConfigurationException(
          paths.format() + " says that the locks there have format \"" + format
              + "\"; this version knows " + NodeData.FORMAT
              + " only: update Holdfast, or choose another root",
          store,
          null));
    }
    return CompletableFuture.completedFuture(null);
  }
}
