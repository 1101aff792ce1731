// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** The operator's verbs. A listing walks over the keys with SCAN, so many steps in each part. */
final class RedisAdmin {
  private static final int PAGE = 1000;

  /** Keys that a step looks at, and steps of a part: far less than a request's time, whatever the keys are. */
  private static final int STEP = 1000;

  private static final int STEPS = 50;
  private static final int HAND_OVER_BITS = 8;

  private final RedisRoute route;
  private final RedisKeys keys;
  private final byte[] retention;

  RedisAdmin(RedisRoute route, RedisKeys keys, RedisOptions options) {
    this.route = route;
    this.keys = keys;
    this.retention = RedisAnswer.argument(options.retentionMicros());
  }

  CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return route.run(RedisScript.INSPECT, keys.of(name)).thenApply(answer -> info(name, answer));
  }

  private static Optional<LockInfo> info(LockKey name, List<Object> answer) {
    long left = RedisAnswer.number(answer, 3) - RedisAnswer.number(answer, 0);
    int waiters = Math.toIntExact(RedisAnswer.number(answer, 6));
    boolean taken = left > 0;
    if (!taken && waiters == 0) {
      return Optional.empty();
    }
    boolean held = taken && RedisAnswer.bytes(answer, 2).length > 0;
    return Optional.of(new LockInfo(
        name.name(),
        held
            ? RedisHolder.read(RedisAnswer.bytes(answer, 5))
                .or(() -> Optional.of(RedisHolder.UNREADABLE))
            : Optional.empty(),
        held ? Optional.of(RedisClock.instant(RedisAnswer.number(answer, 4))) : Optional.empty(),
        held ? Duration.of(left, ChronoUnit.MICROS) : Duration.ZERO,
        RedisAnswer.number(answer, 1) << HAND_OVER_BITS,
        taken && !held
            ? Optional.of(RedisClock.instant(RedisAnswer.number(answer, 3)))
            : Optional.empty(),
        Waiters.exactly(waiters)));
  }

  private static LockInfo unreadable(LockKey name) {
    return new LockInfo(
        name.name(),
        Optional.of(RedisHolder.UNREADABLE),
        Optional.empty(),
        Duration.ZERO,
        0,
        Optional.empty(),
        Waiters.atLeast(0));
  }

  CompletionStage<Boolean> evict(LockKey name, long revision) {
    return route
        .run(
            RedisScript.EVICT,
            keys.of(name),
            RedisAnswer.argument(revision),
            retention,
            keys.channel())
        .thenApply(answer -> RedisAnswer.text(answer, 1).equals("1"));
  }

  /**
   * What a part of a listing has found.
   *
   * @param names in the order in which they were met
   * @param next where it goes on; empty after the end
   */
  record Names(Set<LockKey> names, Optional<String> next) {}

  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return names(prefix, page).thenCompose(this::read);
  }

  CompletionStage<Names> names(String prefix, Optional<String> page) {
    return new Walk(prefix).from(page.map(Place::read));
  }

  private CompletionStage<LockPage> read(Names found) {
    List<CompletableFuture<Optional<LockInfo>>> infos = new ArrayList<>();
    for (LockKey name : found.names) {
      infos.add(listed(name, inspect(name)).toCompletableFuture());
    }
    return CompletableFuture.allOf(infos.toArray(CompletableFuture[]::new))
        .thenApply(all -> new LockPage(
            infos.stream().flatMap(info -> info.join().stream()).toList(), found.next));
  }

  /**
   * Lets a key that has a lock's name and is another program's be as if it were not there. A record of another version's is a
   * lock's, and is listed as taken: whether it is cannot be read.
   */
  static CompletionStage<Optional<LockInfo>> listed(
      LockKey name, CompletionStage<Optional<LockInfo>> looked) {
    return looked.exceptionally(failure -> {
      if (RedisErrors.isForeign(failure)) {
        return Optional.empty();
      }
      if (RedisErrors.isOfAnotherFormat(failure)) {
        return Optional.of(unreadable(name));
      }
      throw failure instanceof CompletionException known ? known : new CompletionException(failure);
    });
  }

  /**
   * Where a walk over all keys is.
   *
   * @param cursor what SCAN said last
   * @param node its description, in whose order nodes are walked over
   */
  private record Place(String cursor, String node) {
    static Place read(String text) {
      int space = text.indexOf(' ');
      return new Place(text.substring(0, space), text.substring(space + 1));
    }

    /** Behind all that a node has. */
    static Place after(RedisNode node) {
      return new Place(ScanCursor.INITIAL.getCursor(), node.describe() + '\0');
    }

    String write() {
      return cursor + " " + node;
    }
  }

  /** A part of a walk over all keys, which goes on where the last part ended. */
  private final class Walk {
    private final String prefix;
    private final ScanArgs arguments;
    private final Set<LockKey> names = new LinkedHashSet<>();
    private int steps;

    Walk(String prefix) {
      this.prefix = prefix;
      this.arguments = ScanArgs.Builder.limit(STEP).match(keys.pattern(prefix));
    }

    CompletionStage<Names> from(Optional<Place> place) {
      String first = place.map(Place::node).orElse("");
      // a cluster's nodes may be others by now
      Optional<RedisNode> node = route.nodes().stream()
          .filter(each -> each.describe().compareTo(first) >= 0)
          .min(Comparator.comparing(RedisNode::describe));
      if (node.isEmpty()) {
        return CompletableFuture.completedFuture(new Names(names, Optional.empty()));
      }
      ScanCursor cursor = place
          .filter(each -> each.node().equals(node.get().describe()))
          .map(each -> ScanCursor.of(each.cursor()))
          .orElse(ScanCursor.INITIAL);
      return over(node.get(), cursor);
    }

    private CompletionStage<Names> over(RedisNode node, ScanCursor cursor) {
      CompletionStage<KeyScanCursor<byte[]>> step =
          node.ask(redis -> redis.scan(cursor, arguments));
      return step.thenCompose(found -> {
        found.getKeys().forEach(this::add);
        Place next =
            found.isFinished() ? Place.after(node) : new Place(found.getCursor(), node.describe());
        return ++steps < STEPS && names.size() < PAGE
            ? from(Optional.of(next))
            : CompletableFuture.completedFuture(new Names(names, Optional.of(next.write())));
      });
    }

    private void add(byte[] key) {
      keys.name(key).filter(name -> name.name().startsWith(prefix)).ifPresent(names::add);
    }
  }
}
