// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a ZooKeeper ensemble. What the ensemble has confirmed survives the loss of any minority of its servers;
 * while there is no majority, nothing is granted and holds are lost in time. {@link #using(CuratorFramework)} makes one on the
 * application's own client; an address ({@code zookeeper://localhost}) makes one with sessions of its own.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store(ZooKeeperStore.using(curator)) // was started; stays open when the client of the locks is closed
 *     .build();
 * }</pre>
 *
 * <p>A claim is an ephemeral node, which goes with its session. From an address, a session is opened for each length of
 * lease that is used; on an application's own {@link CuratorFramework} all claims share the one that it has. A hold is
 * lost when its session has ended or may have ended, whatever comes later: a new session inherits nothing.
 */
public final class ZooKeeperStore implements LockStore {
  private static final StoreTraits TRAITS =
      new StoreTraits(true, ZooKeeperGuarantees.WAITER_LEASE, Duration.ZERO);

  private static final long SWEEP_NANOS = 100_000_000L;

  /** How often it is tried again to end what is left over on the application's client. */
  private static final long LEFT_OVER_MILLIS = 500;

  private final String store;
  private final ZooKeeperSettings settings;
  private final ZooKeeperClients clients;
  private final ZooKeeperPaths paths;

  /** Whether it makes no root where there is none. */
  private final boolean onlyLooks;

  private volatile @Nullable Started started;
  private volatile boolean closed;

  /** What exists from {@link #start} on. */
  private record Started(
      ZooKeeperContext context,
      ZooKeeperLocks locks,
      ZooKeeperAdmin admin,
      Connections connections) {}

  private ZooKeeperStore(
      String store,
      ZooKeeperSettings settings,
      ZooKeeperClients clients,
      ZooKeeperPaths paths,
      boolean onlyLooks) {
    this.store = store;
    this.settings = settings;
    this.clients = clients;
    this.paths = paths;
    this.onlyLooks = onlyLooks;
  }

  static ZooKeeperStore at(StoreAddress address) {
    ZooKeeperAddress read = new ZooKeeperAddress(address);
    return at(address, read, read);
  }

  /** At an address, with clients that need not be made as it says. */
  static ZooKeeperStore at(StoreAddress address, ZooKeeperAddress read, ZooKeeperClients clients) {
    return at(address, read, clients, false);
  }

  /** At an address whose root is there: the first contact fails if it is not. */
  static ZooKeeperStore atExisting(StoreAddress address) {
    ZooKeeperAddress read = new ZooKeeperAddress(address);
    return at(address, read, read, true);
  }

  private static ZooKeeperStore at(
      StoreAddress address, ZooKeeperAddress read, ZooKeeperClients clients, boolean onlyLooks) {
    return new ZooKeeperStore(
        address.toString(),
        read.settings(),
        clients,
        new ZooKeeperPaths(read.settings().root()),
        onlyLooks);
  }

  /**
   * Makes a store on the application's own client, with the default settings. All claims share the client's session;
   * the client itself is left open by {@link #close()}. The nodes are open to everybody; see {@link
   * #using(CuratorFramework, ZooKeeperSettings)} for a client that logs in.
   *
   * @param client a client that was started; its namespace, if it has one, is kept to
   * @return a store, not started
   */
  public static ZooKeeperStore using(CuratorFramework client) {
    return using(client, ZooKeeperSettings.defaults());
  }

  /**
   * Makes a store on the application's own client, as {@link #using(CuratorFramework)} does, with settings. The client's
   * {@code ACLProvider} has no say: if the client logs in, give the settings an ACL, or anybody may delete a holder's node.
   *
   * <pre>{@code
   * ZooKeeperStore.using(curator, ZooKeeperSettings.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
   * }</pre>
   *
   * @param client a client that was started, with a session timeout of at least the longest lease and a tick
   * @param settings how the locks are stored
   * @return a store, not started
   */
  public static ZooKeeperStore using(CuratorFramework client, ZooKeeperSettings settings) {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(settings, "settings");
    GivenClient given = new GivenClient(client, settings.acl());
    return new ZooKeeperStore(
        "zookeeper (the application's client)",
        settings,
        given,
        new ZooKeeperPaths(given.namespace() + settings.root()),
        false);
  }

  @Override
  public Guarantees guarantees() {
    return ZooKeeperGuarantees.with(settings.longestLease(), settings.tick(), clients.isGiven());
  }

  @Override
  public StoreTraits traits() {
    return TRAITS;
  }

  @Override
  public String describe() {
    return store;
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    Connections connections = new Connections(runtime, events);
    ZooKeeperSessions sessions = new ZooKeeperSessions(
        clients,
        paths.nothing(),
        settings.longestLease(),
        settings.tick(),
        runtime.ticker(),
        connections);
    FirstContact contact =
        new FirstContact(store, settings, clients, paths, sessions.main(), runtime, onlyLooks);
    Watches watches = new Watches();
    ZooKeeperContext context = new ZooKeeperContext(
        paths,
        clients,
        sessions,
        contact,
        new KeptLocks(clients, sessions, watches, runtime, events),
        watches,
        runtime,
        events);
    ZooKeeperLocks locks = new ZooKeeperLocks(context);
    connections.locks = locks;
    started = new Started(
        context, locks, new ZooKeeperAdmin(paths, sessions, contact, runtime), connections);
    again(runtime, sessions.lookEveryNanos(), sessions::look);
    again(runtime, SWEEP_NANOS, locks::endOverdue);
  }

  /** Runs it again and again until the store is closed. */
  private void again(StoreRuntime runtime, long everyNanos, Runnable task) {
    runtime
        .scheduler()
        .schedule(
            () -> {
              if (!closed) {
                task.run();
                again(runtime, everyNanos, task);
              }
            },
            everyNanos);
  }

  /** Passes on what the connections tell. */
  private static final class Connections implements ZooKeeperSession.Listener {
    private final StoreRuntime runtime;
    private final StoreEvents events;
    private volatile @Nullable ZooKeeperLocks locks;

    /** Nobody wants to hear of it any more. */
    private volatile boolean closed;

    Connections(StoreRuntime runtime, StoreEvents events) {
      this.runtime = runtime;
      this.events = events;
    }

    @Override
    public void disturbed() {
      if (!closed) {
        events.disturbed();
      }
    }

    @Override
    public void restored(int sessionMillis) {
      if (closed) {
        return;
      }
      events.restored();
      // what was sent on the old connection may still be worked off: own claims are compared once
      // more when it cannot
      runtime.scheduler().schedule(events::restored, sessionMillis * 1_000_000L);
    }

    @Override
    public void ended(ZooKeeperSession session, long sessionId) {
      ZooKeeperLocks told = locks;
      if (told != null) {
        told.sessionEnded(session, sessionId);
      }
    }
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return started().context().contact().make();
  }

  @Override
  public Instant time() {
    return started().locks().time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return started().locks().attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return started().locks().keep(claims);
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return started().locks().end(claim, keepFor);
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return started().locks().own();
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return started().admin().inspect(name);
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return Waiters.exactly(0);
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return started().admin().list(prefix, page);
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return started().admin().evict(name, revision);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return new ZooKeeperDoctor(settings, clients, started().context()).look();
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  /**
   * Ends the sessions that were opened here, and with them whatever the engine could not end; waits for a silent
   * ensemble no longer than for a request. The application's own client stays open; what could not be ended on it,
   * because the connection is broken, is ended when that is back.
   */
  @Override
  public void close() {
    closed = true;
    Started running = started;
    if (running != null) {
      ZooKeeperContext context = running.context();
      if (clients.isGiven()) {
        running.connections().closed = true;
        endLeftOver(running);
      } else {
        context.sessions().close(context.runtime().requestTimeout().toNanos());
      }
    }
    clients.close();
  }

  /** The application's session goes on, and with it whatever the engine could not end; its timer is closed. */
  private static void endLeftOver(Started running) {
    ZooKeeperSessions sessions = running.context().sessions();
    sessions.main().look();
    if (running.locks().endLeftOver() || sessions.main().isStopped()) {
      sessions.close(running.context().runtime().requestTimeout().toNanos());
    } else {
      CompletableFuture.delayedExecutor(LEFT_OVER_MILLIS, TimeUnit.MILLISECONDS)
          .execute(() -> endLeftOver(running));
    }
  }

  /** What the parts of the recipe share. */
  ZooKeeperContext context() {
    return started().context();
  }

  private Started started() {
    return Objects.requireNonNull(started, "start() comes first");
  }
}
