// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A store lists in parts, in any order, and may list a lock in several. */
class ListingTest {
  private static final List<List<String>> PARTS = List.of(
      List.of("c", "é"), List.of(), List.of("\uFFFD", "a"), List.of("c", "\uD83D\uDD12", "b"));

  /** Lists locks by name in parts of its own. */
  private static final class InParts extends ForwardingStore {
    InParts() {
      super(new MemoryStore());
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
      int part = page.map(Integer::parseInt).orElse(0);
      List<LockInfo> locks = new ArrayList<>();
      for (String name : PARTS.get(part)) {
        inspect(LockKey.of(name)).toCompletableFuture().join().ifPresent(locks::add);
      }
      return CompletableFuture.completedFuture(new LockPage(
          locks,
          part + 1 < PARTS.size() ? Optional.of(Integer.toString(part + 1)) : Optional.empty()));
    }
  }

  /** By their names' bytes: what a character above 65,535 is compared by in Java would put it before some below. */
  @Test
  void parts_areListedInOrderAndOnce() throws Exception {
    try (Holdfast holdfast = Holdfast.builder().store(new InParts()).build()) {
      List<Hold> holds = new ArrayList<>();
      for (String name : List.of("a", "b", "c", "é", "\uFFFD", "\uD83D\uDD12")) {
        holds.add(holdfast.lock(name).acquire());
      }
      assertThat(holdfast.admin().list(""))
          .extracting(LockInfo::name)
          .containsExactly("a", "b", "c", "é", "\uFFFD", "\uD83D\uDD12");
      holds.forEach(Hold::close);
    }
  }
}
