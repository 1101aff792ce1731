// SPDX-License-Identifier: Apache-2.0
/**
 * The lock, its engine and the in-memory store.
 *
 * <p>The engine is exported to the test kit alone, whose simulator drives it; that module is not there at compile time.
 */
@SuppressWarnings("module")
module io.holdfast.core {
  requires static org.jspecify;

  exports io.holdfast;
  exports io.holdfast.spi;
  exports io.holdfast.memory;
  exports io.holdfast.engine to
      io.holdfast.testkit;

  uses io.holdfast.spi.LockStoreFactory;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.memory.MemoryStoreFactory;
}
