// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.zookeeper.NodeData.KeptLock;
import io.holdfast.zookeeper.Reply.Children;
import io.holdfast.zookeeper.Reply.Data;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** The operator's view. It changes nothing but what it is told to end. */
final class ZooKeeperAdmin {
  private static final int PAGE = 200;
  private static final int TOKEN_SHIFT = 8;

  private final ZooKeeperPaths paths;
  private final ZooKeeperSessions sessions;
  private final FirstContact contact;
  private final StoreRuntime runtime;

  ZooKeeperAdmin(
      ZooKeeperPaths paths,
      ZooKeeperSessions sessions,
      FirstContact contact,
      StoreRuntime runtime) {
    this.paths = paths;
    this.sessions = sessions;
    this.contact = contact;
    this.runtime = runtime;
  }

  CompletionStage<Optional<LockInfo>> inspect(LockKey key) {
    Link link = sessions.main().link();
    return link == null
        ? CompletableFuture.failedFuture(contact.notConnected())
        : inspect(link, key, link.queueAgreed(paths.folder(key)));
  }

  private CompletionStage<Optional<LockInfo>> inspect(
      Link link, LockKey key, CompletionStage<Reply<Children>> listed) {
    String folder = paths.folder(key);
    return listed.thenCompose(list -> {
      if (list.isAbsent()) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      if (!list.isOk()) {
        return failed("list the lock's claims", list);
      }
      List<LockNode> queue = LockNode.queue(list.get().names());
      Optional<String> marker = ZooKeeperPaths.markerIn(list.get().names());
      CompletionStage<@Nullable KeptLock> kept = marker.isEmpty()
          ? CompletableFuture.completedFuture(null)
          : link.data(folder + "/" + marker.get(), null).thenApply(this::unexpired);
      return kept.thenCompose(found -> {
        if (found != null) {
          return CompletableFuture.completedFuture(Optional.of(keptInfo(key, found, queue.size())));
        }
        if (queue.isEmpty()) {
          return CompletableFuture.completedFuture(Optional.empty());
        }
        return link.data(folder + "/" + queue.get(0).name(), null).thenCompose(first -> {
          if (first.isAbsent()) {
            // it has gone between the list and this: look again
            return inspect(link, key, link.queue(folder));
          }
          return first.isOk()
              ? CompletableFuture.completedFuture(
                  Optional.of(heldInfo(key, first.get(), queue.size() - 1)))
              : failed("read the lock's holder", first);
        });
      });
    });
  }

  private @Nullable KeptLock unexpired(Reply<Data> marker) {
    Optional<KeptLock> kept =
        marker.isOk() ? NodeData.readKept(marker.get().bytes()) : Optional.empty();
    // by our own clock: for people, and the next holder asks the server's
    return kept.filter(known -> known.untilMillis() > runtime.ticker().wallMillis())
        .orElse(null);
  }

  private static LockInfo keptInfo(LockKey key, KeptLock kept, int waiters) {
    return new LockInfo(
        key.name(),
        Optional.empty(),
        Optional.empty(),
        Duration.ZERO,
        kept.revision() << TOKEN_SHIFT,
        Optional.of(Instant.ofEpochMilli(kept.untilMillis())),
        Waiters.exactly(waiters));
  }

  private static LockInfo heldInfo(LockKey key, Data first, int waiters) {
    Optional<NodeData.Shown> shown = NodeData.readClaim(first.bytes());
    return new LockInfo(
        key.name(),
        Optional.of(shown.map(NodeData.Shown::holder).orElse(new Holder("unknown", "", 0, "", ""))),
        Optional.of(Instant.ofEpochMilli(first.stat().getCtime())),
        shown.map(NodeData.Shown::lease).orElse(Duration.ZERO),
        first.stat().getCzxid() << TOKEN_SHIFT,
        Optional.empty(),
        Waiters.exactly(waiters));
  }

  CompletionStage<LockPage> list(String prefix, Optional<String> after) {
    Link link = sessions.main().link();
    if (link == null) {
      return CompletableFuture.failedFuture(contact.notConnected());
    }
    return names(link)
        .thenApply(all -> all.stream()
            .filter(key -> key.name().startsWith(prefix))
            .filter(key -> after.isEmpty() || compare(key.name(), after.get()) > 0)
            .sorted(Comparator.comparing(LockKey::name, ZooKeeperAdmin::compare))
            .toList())
        .thenCompose(keys -> page(link, keys));
  }

  private static int compare(String one, String other) {
    return Arrays.compareUnsigned(NodeData.bytes(one), NodeData.bytes(other));
  }

  private CompletionStage<LockPage> page(Link link, List<LockKey> keys) {
    List<LockKey> now = keys.subList(0, Math.min(PAGE, keys.size()));
    List<CompletableFuture<Optional<LockInfo>>> all = new ArrayList<>();
    // a majority was asked before all names were listed, on this connection
    now.forEach(
        key -> all.add(inspect(link, key, link.queue(paths.folder(key))).toCompletableFuture()));
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(nothing -> {
      List<LockInfo> found = new ArrayList<>();
      all.forEach(each -> each.join().ifPresent(found::add));
      return new LockPage(
          found,
          now.size() < keys.size()
              ? Optional.of(now.get(now.size() - 1).name())
              : Optional.empty());
    });
  }

  /** Returns the names of all folders, also of those that are empty by now. */
  private CompletionStage<List<LockKey>> names(Link link) {
    ConcurrentLinkedQueue<LockKey> found = new ConcurrentLinkedQueue<>();
    CompletableFuture<Reply<Boolean>> proof = link.agree();
    return LockFolders.walk(
            paths,
            bucket -> Link.agreed(proof, link.children(bucket)),
            (bucket, folders) -> CompletableFuture.allOf(folders.stream()
                .map(name -> fullName(link, bucket + "/" + name, name, found))
                .toArray(CompletableFuture[]::new)))
        .thenApply(nothing -> List.copyOf(found));
  }

  /** A folder that we have not made is left out. */
  private CompletableFuture<?> fullName(
      Link link, String folder, String name, ConcurrentLinkedQueue<LockKey> found) {
    if (name.indexOf('~') < 0) {
      // plain names are stored as they are
      paths.lockOf(folder, name).ifPresent(found::add);
      return CompletableFuture.completedFuture(null);
    }
    return link.data(folder, null).thenAccept(data -> {
      if (data.isOk()) {
        paths.lockOf(folder, NodeData.text(data.get().bytes())).ifPresent(found::add);
      }
    });
  }

  CompletionStage<Boolean> evict(LockKey key, long revision) {
    Link link = sessions.main().link();
    if (link == null) {
      return CompletableFuture.failedFuture(contact.notConnected());
    }
    String folder = paths.folder(key);
    return link.queueAgreed(folder).thenCompose(list -> {
      if (list.isAbsent()) {
        return CompletableFuture.completedFuture(false);
      }
      if (!list.isOk()) {
        return failed("list the lock's claims", list);
      }
      Optional<String> marker = ZooKeeperPaths.markerIn(list.get().names());
      if (marker.isPresent()) {
        String wanted = ZooKeeperPaths.marker(folder, revision);
        return (folder + "/" + marker.get()).equals(wanted)
            ? delete(link, wanted)
            : CompletableFuture.completedFuture(false);
      }
      List<LockNode> queue = LockNode.queue(list.get().names());
      if (queue.isEmpty()) {
        return CompletableFuture.completedFuture(false);
      }
      String first = folder + "/" + queue.get(0).name();
      return link.data(first, null)
          .thenCompose(holder -> holder.isOk() && holder.get().stat().getCzxid() == revision
              ? delete(link, first)
              : CompletableFuture.completedFuture(false));
    });
  }

  /** A path is that of one claim for ever: what is deleted is what was seen. */
  private static CompletionStage<Boolean> delete(Link link, String path) {
    return link.delete(path, -1)
        .thenCompose(deleted -> deleted.isOk() || deleted.isAbsent()
            ? CompletableFuture.completedFuture(deleted.isOk())
            : failed("end the hold", deleted));
  }

  private static <T> CompletableFuture<T> failed(String what, Reply<?> reply) {
    return CompletableFuture.failedFuture(ZooKeeperErrors.of("could not " + what, reply));
  }
}
