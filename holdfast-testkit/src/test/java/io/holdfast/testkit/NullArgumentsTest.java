// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockAdmin;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.Ticker;
import io.holdfast.memory.MemoryStore;
import io.holdfast.memory.MemoryStoreFactory;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.NullArguments;
import org.junit.jupiter.api.Test;

/**
 * Null arguments of what the core exports; each store module tests its own. The API of the client and of the stores is
 * meant: what is public in holdfast-verify, -measure, -bench, -cli and -testkit only because the module needs it so is not.
 */
class NullArgumentsTest {
  @Test
  void null_isRefused() throws Exception {
    try (Holdfast holdfast = Holdfast.builder().store(new MemoryStore()).build();
        Hold hold = holdfast.lock("held").acquire()) {
      // free, so that a wait that takes the null ends
      DistributedLock lock = holdfast.lock("free");
      new NullArguments()
          .with(Holdfast.class, holdfast)
          .with(Holdfast.Builder.class, Holdfast.builder())
          .with(DistributedLock.class, lock)
          .with(JavaLock.class, lock.asJavaLock())
          .with(Hold.class, hold)
          .with(LockAdmin.class, holdfast.admin())
          .with(LockOptions.class, LockOptions.defaults())
          .with(LockOptions.Builder.class, LockOptions.builder())
          .with(OnLost.class, OnLost.doNothing())
          .with(Class.class, Throwable.class)
          .with(Ticker.class, Ticker.system())
          .with(LockKey.class, LockKey.of("x"))
          .with(LockStoreFactory.class, new MemoryStoreFactory())
          .with(StoreAddress.class, StoreAddress.parse("memory:"))
          .ofModule(Holdfast.class)
          .areRefused(160);
    }
  }
}
