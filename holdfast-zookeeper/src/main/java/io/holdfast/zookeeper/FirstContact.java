// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.Moment;
import io.holdfast.Scheduler.Scheduled;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;

/**
 * Connects, looks whether the session is long enough, and makes the root, or checks that what is there is ours. A store that only
 * looks makes no root: it fails where there is none. Where no connection comes, it finds out why within the time of a request: ZooKeeper's client goes on trying, and tells nothing.
 */
final class FirstContact {
  /** A server that does not stand still answers within that. */
  private static final Duration LEAST_PATIENCE = Duration.ofMillis(400);

  /** However long a request may take. */
  private static final Duration ELECTION = Duration.ofSeconds(4);

  private static final Duration MOST_PATIENCE = Duration.ofSeconds(30);

  private final String store;
  private final ZooKeeperSettings settings;
  private final ZooKeeperClients clients;
  private final ZooKeeperPaths paths;
  private final ZooKeeperSession session;
  private final StoreRuntime runtime;
  private final boolean onlyLooks;
  private final ServerProbe probe;
  private final AtomicBoolean begun = new AtomicBoolean();

  FirstContact(
      String store,
      ZooKeeperSettings settings,
      ZooKeeperClients clients,
      ZooKeeperPaths paths,
      ZooKeeperSession session,
      StoreRuntime runtime,
      boolean onlyLooks) {
    this.store = store;
    this.settings = settings;
    this.clients = clients;
    this.paths = paths;
    this.session = session;
    this.runtime = runtime;
    this.onlyLooks = onlyLooks;
    this.probe = new ServerProbe(clients, patience(runtime.requestTimeout()), runtime.ticker());
  }

  /** So that the servers have answered before the engine gives up what may take no longer than a request. */
  private static Duration lookAfter(Duration requestTimeout) {
    return requestTimeout.multipliedBy(2).dividedBy(5);
  }

  private static Duration patience(Duration requestTimeout) {
    Duration wanted = lookAfter(requestTimeout);
    if (wanted.compareTo(LEAST_PATIENCE) < 0) {
      return LEAST_PATIENCE;
    }
    return wanted.compareTo(MOST_PATIENCE) > 0 ? MOST_PATIENCE : wanted;
  }

  /** Makes it; again, after it failed. */
  CompletionStage<@Nullable Void> make() {
    if (begun.compareAndSet(false, true)) {
      session.start();
    } else {
      session.startAgain();
    }
    CompletableFuture<@Nullable Void> made = new CompletableFuture<>();
    Scheduled look = session.first().isDone()
        ? () -> {}
        : runtime
            .scheduler()
            .schedule(() -> lookWhy(made), lookAfter(runtime.requestTimeout()).toNanos());
    Link.unasked(session.first().thenCompose(ready -> use()).handle((ready, failure) -> {
      look.cancel();
      return failure == null ? made.complete(null) : made.completeExceptionally(failure);
    }));
    return made;
  }

  private CompletionStage<@Nullable Void> use() {
    Link link = session.link();
    if (link == null) {
      return CompletableFuture.failedFuture(notConnected());
    }
    Duration least = clients.isGiven()
        ? settings.longestLease()
        : ZooKeeperSessions.mainLease(settings.longestLease());
    Optional<ConfigurationException> tooShort = tooShort(link, least);
    if (tooShort.isPresent()) {
      return CompletableFuture.failedFuture(tooShort.get());
    }
    return onlyLooks ? existingRoot(link) : root(link);
  }

  /**
   * How long an ensemble that has no leader just now is waited for before it is looked at again: most elections take
   * less.
   */
  private long healWithinNanos() {
    Duration request = runtime.requestTimeout();
    Duration whole = request.multipliedBy(2);
    Duration atMost = whole.compareTo(ELECTION) < 0 ? whole : ELECTION;
    return Math.max(0, atMost.minus(lookAfter(request)).toNanos());
  }

  /** Ends the contact if no connection can come now. While a server serves, it may come yet. Called on the timer. */
  private void lookWhy(CompletableFuture<@Nullable Void> made) {
    if (isOver(made)) {
      return;
    }
    Moment asked = runtime.ticker().now();
    Link.unasked(
        probe.look().thenAccept(seen -> seen.ifPresent(troubles -> tell(troubles, asked, made))));
  }

  private void tell(
      Map<String, ConnectionTrouble> troubles,
      Moment asked,
      CompletableFuture<@Nullable Void> made) {
    boolean mayHeal = troubles.values().stream().anyMatch(ConnectionTrouble::mayHeal);
    long left = mayHeal ? healWithinNanos() - runtime.ticker().elapsedNanos(asked) : 0;
    if (left > 0) {
      // so early that its answers are there before the engine gives up
      long look = patience(runtime.requestTimeout()).toNanos();
      runtime.scheduler().schedule(() -> lookAgain(made), Math.max(0, left - look));
    } else {
      fail(troubles, made);
    }
  }

  /**
   * Ends the contact if no connection can come now either. What was seen before may be over: a server may serve to which
   * ZooKeeper's client has not come back yet. Called on the timer.
   */
  private void lookAgain(CompletableFuture<@Nullable Void> made) {
    if (isOver(made)) {
      return;
    }
    Link.unasked(probe.look().thenAccept(seen -> seen.ifPresent(troubles -> fail(troubles, made))));
  }

  /** A store that was closed meanwhile asks its servers no more. */
  private boolean isOver(CompletableFuture<@Nullable Void> made) {
    return session.first().isDone() || made.isDone() || session.isClosing();
  }

  /** Not if a connection has come meanwhile: then it depends on what that is good for. */
  private void fail(
      Map<String, ConnectionTrouble> troubles, CompletableFuture<@Nullable Void> made) {
    if (!session.first().isDone()) {
      made.completeExceptionally(ConnectionTrouble.failure(troubles));
    }
  }

  /** Says why there is no connection, as far as that is known. Nothing was sent. */
  StoreException notConnected() {
    return probe.notConnected();
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

  /** Reads the format, and makes nothing; a server that has fallen behind catches up before it is asked. */
  private CompletionStage<@Nullable Void> existingRoot(Link link) {
    return Link.agreed(link.agree(), link.data(paths.format(), null)).thenCompose(found -> {
      if (found.isAbsent()) {
        return CompletableFuture.failedFuture(new StoreException(
            "there is no node " + paths.format()
                + "; check the root in the address, or let \"holdfast run\" create it",
            Reason.UNREACHABLE,
            true,
            null));
      }
      return found.isOk()
          ? check(found.get())
          : CompletableFuture.failedFuture(
              ZooKeeperErrors.of("could not read " + paths.format(), found));
    });
  }

  private CompletionStage<@Nullable Void> check(
      Reply<Reply.Data> found, Reply<Reply.Created> made) {
    if (!found.isOk()) {
      Reply<?> why = found.isAbsent() ? made : found;
      return CompletableFuture.failedFuture(
          ZooKeeperErrors.of("could not make or read " + paths.format(), why));
    }
    return check(found.get());
  }

  private CompletionStage<@Nullable Void> check(Reply.Data found) {
    String format = NodeData.text(found.bytes());
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
