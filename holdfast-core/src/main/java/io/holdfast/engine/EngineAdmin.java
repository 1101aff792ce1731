// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks the store and waits. */
final class EngineAdmin implements LockAdmin {
  private static final Comparator<LockKey> BY_BYTES =
      Comparator.comparing(LockKey::bytes, Arrays::compareUnsigned);

  private final Engine engine;

  EngineAdmin(Engine engine) {
    this.engine = engine;
  }

  @Override
  public List<LockInfo> list(String prefix) {
    Objects.requireNonNull(prefix, "prefix");
    Map<LockKey, LockInfo> all = new TreeMap<>(BY_BYTES);
    Optional<String> page = Optional.empty();
    do {
      Optional<String> from = page;
      LockPage part = answer(() -> engine.store.list(prefix, from), null);
      part.locks().forEach(each -> all.put(LockKey.of(each.name()), each));
      page = part.next();
    } while (page.isPresent());
    return List.copyOf(all.values());
  }

  @Override
  public Optional<LockInfo> inspect(String name) {
    LockKey key = LockKey.of(name);
    return answer(() -> engine.store.inspect(key), name);
  }

  @Override
  public boolean forceRelease(LockInfo seen) {
    Objects.requireNonNull(seen, "seen");
    LockKey key = LockKey.of(seen.name());
    long revision = Tokens.revision(seen.token());
    boolean ended = answer(() -> engine.store.evict(key, revision), seen.name());
    Log.log(
        Level.INFO,
        "lock={0} token={1}: forced release, ended={2}",
        key,
        Long.toString(seen.token()),
        ended);
    return ended;
  }

  @Override
  public long callbackFailures() {
    return engine.callbacks.failures();
  }

  private <T> T answer(Supplier<CompletionStage<T>> verb, @Nullable String lockName) {
    if (engine.isClosed()) {
      throw Engine.closedException();
    }
    return Waiting.forAnswer(
        engine.ask(verb),
        engine.requestTimeoutNanos(),
        engine::unanswered,
        lockName,
        engine.store.describe());
  }
}
