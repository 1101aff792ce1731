// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import java.util.Set;

/** A database in memory: no second process, nothing to restart, nothing that could hang. */
final class MemoryUnderTest implements StoreUnderTest {
  private final MemoryDatabase database = new MemoryDatabase();

  @Override
  public String version() {
    return "Java " + Runtime.version().feature();
  }

  @Override
  public String provision() {
    return "in this JVM";
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of(Capability.FAIR);
  }

  @Override
  public LockStore open() {
    return new MemoryStore(database);
  }

  @Override
  public void close() {
    // garbage
  }
}
