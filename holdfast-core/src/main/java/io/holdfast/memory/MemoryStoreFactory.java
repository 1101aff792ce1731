// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Serves {@code memory:} (a database for this client alone) and {@code memory:NAME} (one that all clients of the process
 * with that name share).
 */
public final class MemoryStoreFactory implements LockStoreFactory {
  private static final Map<String, MemoryDatabase> SHARED = new ConcurrentHashMap<>();

  /** For the service loader. */
  public MemoryStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("memory");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-core";
  }

  @Override
  public LockStore open(StoreAddress address) {
    Objects.requireNonNull(address, "address").requireOnly();
    String name = address.rest();
    MemoryDatabase database = name.isEmpty()
        ? new MemoryDatabase()
        : SHARED.computeIfAbsent(name, key -> new MemoryDatabase());
    return new MemoryStore(database, name);
  }
}
