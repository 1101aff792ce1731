// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What operators ask. The server says neither when a lock was granted nor what is left of a session; what is shown is when
 * it was asked for, and the whole lease, which is the most that its holder may still count on. A dead client's lock lasts up
 * to twice that, and the lock-delay.
 */
final class ConsulAdmin {
  private static final int TOKEN_SHIFT = 8;

  /** The server takes 64 operations in a transaction. */
  private static final int READ_TOGETHER = 64;

  private final ConsulContext context;

  ConsulAdmin(ConsulContext context) {
    this.context = context;
  }

  CompletableFuture<Optional<LockInfo>> inspect(LockKey name) {
    return context
        .calls
        .get(context.keys.lock(name))
        .thenApply(seen -> seen.isLocked() ? Optional.of(info(seen)) : Optional.empty());
  }

  private static LockInfo info(ConsulEntry seen) {
    ConsulValue value = ConsulValue.read(seen);
    return new LockInfo(
        value.name().name(),
        value.holder(),
        value.isKept() ? Optional.empty() : Optional.of(value.since()),
        value.isKept() ? Duration.ZERO : value.lease(),
        seen.index() << TOKEN_SHIFT,
        value.keptUntil(),
        Waiters.atLeast(0));
  }

  /** All of them: the server has no pages. What others have put under the prefix is no lock, and left out. */
  CompletableFuture<LockPage> list(String prefix) {
    return context.calls.list(context.keys.locks()).thenApply(entries -> {
      List<LockInfo> infos = new ArrayList<>();
      for (ConsulEntry each : entries) {
        if (each.isLocked() && !ConsulValue.isForeign(each)) {
          LockInfo info = info(each);
          if (info.name().startsWith(prefix)) {
            infos.add(info);
          }
        }
      }
      infos.sort(Comparator.comparing(info -> utf8(info.name()), Arrays::compareUnsigned));
      return new LockPage(infos, Optional.empty());
    });
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Deletes the key, if it is the one that was seen. */
  CompletableFuture<Boolean> evict(LockKey name, long revision) {
    String key = context.keys.lock(name);
    return context
        .calls
        .txn(new ConsulTxn().isSame(key, revision).delete(key))
        .thenApply(ConsulTxn.Answer::isDone);
  }

  /**
   * Lists the claims of this client. A kept lock is none of them. What this client may have is known by name, so that those
   * locks are read, and not the locks of all clients.
   */
  CompletableFuture<Map<ClaimId, LockKey>> own() {
    return own(List.copyOf(context.names()), new HashMap<>()).thenApply(own -> {
      context.forgetGivenUp(own.keySet());
      return Map.copyOf(own);
    });
  }

  private CompletableFuture<Map<ClaimId, LockKey>> own(
      List<LockKey> names, Map<ClaimId, LockKey> found) {
    if (names.isEmpty()) {
      return CompletableFuture.completedFuture(found);
    }
    int some = Math.min(names.size(), READ_TOGETHER);
    ConsulTxn reads = new ConsulTxn();
    names.subList(0, some).forEach(name -> reads.get(context.keys.lock(name)));
    return context.calls.look(reads).thenCompose(seen -> {
      for (ConsulEntry each : seen.entries()) {
        // what is another client's is not read: it may be of a newer version
        if (context.term(each.session()).isPresent()) {
          ConsulValue value = ConsulValue.read(each);
          if (value.claim().client().equals(context.runtime.client()) && !value.isKept()) {
            found.put(value.claim(), value.name());
          }
        }
      }
      return own(names.subList(some, names.size()), found);
    });
  }
}
