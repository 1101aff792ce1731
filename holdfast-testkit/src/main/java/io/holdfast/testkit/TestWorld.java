// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Holdfast;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;

/** What {@link HoldfastExtension} makes for one test; closed by JUnit at its end. */
final class TestWorld implements AutoCloseable {
  final ManualClock clock = new ManualClock();
  final Holdfast holdfast;
  final Faults faults;
  final Rival rival;
  private final Holdfast other;
  private final CallbackQueue callbacks = new CallbackQueue();

  TestWorld() {
    MemoryDatabase database = new MemoryDatabase(clock);
    FaultyStore store = new FaultyStore(new MemoryStore(database));
    faults = store.faults();
    holdfast = Holdfast.builder()
        .store(store)
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(callbacks)
        .clientName("under-test")
        .build();
    other = Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(callbacks)
        .clientName("rival")
        .build();
    rival = new Rival(other);
    clock.afterMoves(callbacks::settle);
    faults.afterActions(callbacks::settle);
  }

  @Override
  public void close() {
    faults.heal();
    holdfast.close();
    other.close();
    callbacks.close();
  }
}
