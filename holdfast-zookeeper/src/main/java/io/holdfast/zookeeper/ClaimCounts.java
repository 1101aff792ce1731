// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreException;
import io.holdfast.zookeeper.Reply.Children;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.jspecify.annotations.Nullable;

/**
 * Looks for locks whose folders have had so many claims that ZooKeeper will soon count no further. It reads, changes
 * nothing, and takes no longer than a request may. What it could not look at is a finding too, and never a failure.
 */
final class ClaimCounts {
  private static final String SUBJECT = "claims";
  private static final String ADVICE =
      "stop using the lock until the servers have removed its empty folder (about a minute); or, while no process holds the"
          + " lock or waits for it, delete the folder. The count then starts again";

  /** Half of what can be counted: at a thousand claims a second the other half lasts 12 days. */
  private static final int MANY = 1 << 30;

  /** More are counted, and not named. */
  private static final int MOST_NAMED = 10;

  private static final int FOLDERS_IN_A_REQUEST = 100;

  /** What a folder takes in an answer, with room to spare: what the server says of it, and its lock's name. */
  private static final int FOLDER_BYTES = 120 + LockKey.MAX_BYTES;

  /** What a folder's name takes in the list of its bucket. */
  private static final int LISTED_BYTES = 130;

  private final ZooKeeperContext context;
  private final Link link;
  private final Queue<Counted> many = new ConcurrentLinkedQueue<>();
  private final AtomicReference<String> unread = new AtomicReference<>("");

  /** Done when the look is over; says why it did not see all, and nothing if it did. */
  private final CompletableFuture<String> over = new CompletableFuture<>();

  /** A folder that has had many claims. */
  private record Counted(String what, int left) {
    Finding finding() {
      return left == 0
          ? new Finding(
              Level.PROBLEM,
              SUBJECT,
              "ZooKeeper can count no more claims in " + what + ": new claims are refused",
              ADVICE)
          : new Finding(
              Level.WARNING,
              SUBJECT,
              "ZooKeeper can count " + left + " more claims in " + what
                  + "; after those, new claims are refused",
              ADVICE);
    }
  }

  ClaimCounts(ZooKeeperContext context, Link link) {
    this.context = context;
    this.link = link;
  }

  CompletableFuture<List<Finding>> look() {
    Duration patience = context.runtime().requestTimeout();
    Scheduled limit = context
        .runtime()
        .scheduler()
        .schedule(
            () -> over.complete("reading them takes more than " + DurationText.exact(patience)
                + ", the time of a request"),
            patience.toNanos());
    Link.unasked(
        LockFolders.walk(context.paths(), this::list, this::look).handle((nothing, failure) -> {
          limit.cancel();
          return over.complete(failure == null ? unread.get() : reason(failure));
        }));
    return over.thenApply(this::findings);
  }

  private static String reason(Throwable failure) {
    Throwable cause = failure.getCause();
    return String.valueOf((cause == null ? failure : cause).getMessage());
  }

  /** Counts before it lists: if an answer is too long, ZooKeeper's client breaks the connection, which holds depend on. */
  private CompletableFuture<Reply<Children>> list(String bucket) {
    return link.stat(bucket).thenCompose(counted -> {
      if (!counted.isOk()) {
        return CompletableFuture.completedFuture(new Reply<>(counted.code(), null, counted.sent()));
      }
      return counted.get().getNumChildren() > link.longestAnswer() / LISTED_BYTES
          ? CompletableFuture.failedFuture(new StoreException(
              bucket + " has more locks than ZooKeeper's client may list (jute.maxbuffer)",
              Reason.FULL,
              true,
              null))
          : link.children(bucket);
    });
  }

  /** Sends one request at a time: it can stop when the time is over, and does not flood the server. */
  private CompletableFuture<?> look(String bucket, List<String> names) {
    if (names.isEmpty() || over.isDone()) {
      return CompletableFuture.completedFuture(null);
    }
    int together = Math.min(
        names.size(),
        Math.max(1, Math.min(FOLDERS_IN_A_REQUEST, link.longestAnswer() / 2 / FOLDER_BYTES)));
    List<String> folders =
        names.subList(0, together).stream().map(name -> bucket + "/" + name).toList();
    return link.read(folders.stream().map(Op::getData).toList()).thenCompose(read -> {
      if (!read.isOk()) {
        return CompletableFuture.failedFuture(
            ZooKeeperErrors.of("could not look at the locks", read));
      }
      for (int i = 0; i < folders.size(); i++) {
        count(folders.get(i), read.get().get(i));
      }
      return look(bucket, names.subList(together, names.size()));
    });
  }

  private void count(String folder, OpResult result) {
    if (result instanceof GetDataResult found) {
      int next = Attempt.nextNumber(found.getStat());
      if (next >= MANY) {
        String lock =
            name(folder, found.getData()).map(name -> " (lock " + name + ")").orElse("");
        many.add(new Counted(folder + lock, LockNode.left(next)));
      }
    } else if (result instanceof ErrorResult error && error.getErr() != Code.NONODE.intValue()) {
      unread.set(folder + ": " + Code.get(error.getErr()));
    }
  }

  /** Returns the lock's name if the folder is one that we have made. */
  private Optional<String> name(String folder, byte @Nullable [] data) {
    return data == null
        ? Optional.empty()
        : context.paths().lockOf(folder, NodeData.text(data)).map(LockKey::name);
  }

  private List<Finding> findings(String why) {
    List<Counted> all = new ArrayList<>(many);
    all.sort(Comparator.comparingInt(Counted::left).thenComparing(Counted::what));
    List<Finding> findings = new ArrayList<>();
    all.stream().limit(MOST_NAMED).map(Counted::finding).forEach(findings::add);
    if (all.size() > MOST_NAMED) {
      findings.add(new Finding(
          Level.WARNING,
          SUBJECT,
          all.size() - MOST_NAMED
              + " more locks have used at least half of the claims that ZooKeeper can count",
          "deal with the locks above, then run doctor again"));
    }
    if (!why.isEmpty()) {
      findings.add(
          new Finding(
              Level.WARNING,
              SUBJECT,
              "doctor could not read the claim count of every lock: " + why,
              "run doctor again; a lock whose count is at its end refuses claims, and says what to do"));
    }
    return findings;
  }
}
