// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.StoreException;
import io.holdfast.zookeeper.ConnectionTrouble.Asked;
import io.holdfast.zookeeper.ConnectionTrouble.Tls;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/** Asks each server of a store, with sockets of its own, why there is no connection. */
final class ServerProbe {
  private static final String WORD = "srvr";

  /** While the connection is broken, servers are not asked more often than that. */
  private static final long LOOK_EVERY_NANOS = 5_000_000_000L;

  /** So often the patience of one step: what has no limit of its own is given up then. */
  private static final int MOST = 6;

  /** What was seen is told for so long. */
  private static final long SEEN_FOR_NANOS = 3 * LOOK_EVERY_NANOS;

  private final ZooKeeperClients clients;
  private final Tls tls;
  private final ServerWords asAddressed;
  private final ServerWords otherwise;
  private final long mostNanos;
  private final Ticker ticker;
  private volatile @Nullable Look last;

  /**
   * A look at all servers.
   *
   * @param asked when it began
   * @param seen what is the matter with each; empty if one of them serves
   */
  private record Look(
      Moment asked, CompletableFuture<Optional<Map<String, ConnectionTrouble>>> seen) {}

  /**
   * Makes a probe, which asks nothing yet.
   *
   * @param clients names the servers, and says how to speak to them
   * @param patience how long a server may take to accept a connection, and again to answer
   * @param ticker the local clocks
   */
  ServerProbe(ZooKeeperClients clients, Duration patience, Ticker ticker) {
    this.clients = clients;
    this.ticker = ticker;
    ZKClientConfig config = clients.config();
    boolean encrypted = config.getBoolean(ZKClientConfig.SECURE_CLIENT);
    this.tls = clients.isGiven() ? Tls.UNTOLD : encrypted ? Tls.ON : Tls.OFF;
    this.asAddressed = new ServerWords(
        patience, ticker, encrypted ? ServerWords.encryptedAs(config) : ServerWords.PLAIN);
    this.otherwise = new ServerWords(
        patience, ticker, encrypted ? ServerWords.PLAIN : ServerWords.encryptedInVain());
    this.mostNanos = patience.multipliedBy(MOST).toNanos();
  }

  /** Says why there is no connection, as far as that is known, and finds it out for the next time. Nothing was sent. */
  StoreException notConnected() {
    Look before = last;
    if (before == null || ticker.elapsedNanos(before.asked) > LOOK_EVERY_NANOS) {
      // two threads may both ask; it is enough that one of them keeps the answers
      last = new Look(ticker.now(), look());
    }
    return before != null
            && before.seen.isDone()
            && ticker.elapsedNanos(before.asked) < SEEN_FOR_NANOS
        ? before
            .seen
            .join()
            .map(ConnectionTrouble::passing)
            .orElseGet(ZooKeeperErrors::notConnected)
        : ZooKeeperErrors.notConnected();
  }

  /** Asks all servers at the same time; empty if there is none, or one serves as far as that can be seen. Never fails. */
  CompletableFuture<Optional<Map<String, ConnectionTrouble>>> look() {
    Map<String, CompletableFuture<Optional<ConnectionTrouble>>> all = new LinkedHashMap<>();
    for (String server : ServerWords.servers(clients.servers())) {
      all.computeIfAbsent(server, this::look);
    }
    return CompletableFuture.allOf(all.values().toArray(CompletableFuture[]::new))
        .thenApply(nothing -> {
          Map<String, ConnectionTrouble> troubles = new LinkedHashMap<>();
          all.forEach(
              (server, seen) -> seen.join().ifPresent(trouble -> troubles.put(server, trouble)));
          return troubles.isEmpty() || troubles.size() < all.size()
              ? Optional.empty()
              : Optional.of(troubles);
        });
  }

  private CompletableFuture<Optional<ConnectionTrouble>> look(String server) {
    return ask(asAddressed, server)
        .thenCombine(
            ask(otherwise, server),
            (addressed, other) -> ConnectionTrouble.of(tls, addressed, other));
  }

  private CompletableFuture<Asked> ask(ServerWords words, String server) {
    return words
        .ask(server, WORD)
        // the look-up of a host's name has no limit of its own
        .orTimeout(mostNanos, TimeUnit.NANOSECONDS)
        .handle((answer, failure) -> new Asked(answer, failure));
  }
}
