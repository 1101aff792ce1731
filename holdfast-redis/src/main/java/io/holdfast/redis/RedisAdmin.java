// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The operator's verbs. A listing walks over the keys with SCAN, a step at a time, and keeps no more than a page. */
final class RedisAdmin {
  private static final int PAGE = 1000;
  private static final int STEP = 1000;
  private static final int HAND_OVER_BITS = 8;
  private static final Holder UNREADABLE = new Holder("?", "?", 0, "?", "");
  private static final Comparator<LockKey> BY_BYTES =
      Comparator.comparing(LockKey::bytes, Arrays::compareUnsigned);

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
            ? RedisHolder.read(RedisAnswer.bytes(answer, 5)).or(() -> Optional.of(UNREADABLE))
            : Optional.empty(),
        held ? Optional.of(RedisClock.instant(RedisAnswer.number(answer, 4))) : Optional.empty(),
        held ? Duration.of(left, ChronoUnit.MICROS) : Duration.ZERO,
        RedisAnswer.number(answer, 1) << HAND_OVER_BITS,
        taken && !held
            ? Optional.of(RedisClock.instant(RedisAnswer.number(answer, 3)))
            : Optional.empty(),
        waiters));
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
   * The names of a page.
   *
   * @param names in order
   * @param more whether there are more behind them
   */
  record Names(SortedSet<LockKey> names, boolean more) {}

  /** A page begins after the name that the last one ended with. */
  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return names(prefix, page).thenCompose(this::read);
  }

  CompletionStage<Names> names(String prefix, Optional<String> page) {
    Walk walk = new Walk(prefix, page.map(LockKey::of));
    CompletionStage<Walk> walked = CompletableFuture.completedFuture(walk);
    for (RedisNode node : route.nodes()) {
      walked = walked.thenCompose(each -> each.over(node, ScanCursor.INITIAL));
    }
    return walked.thenApply(done -> new Names(done.names, done.more));
  }

  private CompletionStage<LockPage> read(Names found) {
    List<CompletableFuture<Optional<LockInfo>>> infos = new ArrayList<>();
    for (LockKey name : found.names) {
      infos.add(inspect(name).toCompletableFuture());
    }
    Optional<String> next = found.more ? Optional.of(found.names.last().name()) : Optional.empty();
    return CompletableFuture.allOf(infos.toArray(CompletableFuture[]::new))
        .thenApply(all ->
            new LockPage(infos.stream().flatMap(info -> info.join().stream()).toList(), next));
  }

  /** One walk over all keys: the first names after a given one, in order. */
  private final class Walk {
    private final String prefix;
    private final Optional<LockKey> after;
    private final ScanArgs arguments;
    private final TreeSet<LockKey> names = new TreeSet<>(BY_BYTES);
    private boolean more;

    Walk(String prefix, Optional<LockKey> after) {
      this.prefix = prefix;
      this.after = after;
      this.arguments = ScanArgs.Builder.limit(STEP).match(keys.pattern(prefix));
    }

    CompletionStage<Walk> over(RedisNode node, ScanCursor cursor) {
      CompletionStage<KeyScanCursor<byte[]>> step =
          node.ask(redis -> redis.scan(cursor, arguments));
      return step.thenCompose(found -> {
        found.getKeys().forEach(this::add);
        return found.isFinished() ? CompletableFuture.completedFuture(this) : over(node, found);
      });
    }

    private void add(byte[] key) {
      Optional<LockKey> name = keys.name(key);
      if (name.isEmpty() || !name.get().name().startsWith(prefix)) {
        return;
      }
      if (after.isPresent() && BY_BYTES.compare(name.get(), after.get()) <= 0) {
        return;
      }
      names.add(name.get());
      if (names.size() > PAGE) {
        names.pollLast();
        more = true;
      }
    }
  }
}
