// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.contract.NullArguments;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Null arguments of the core API; each store module tests its own. */
class NullArgumentsTest {
  private static final Holder HOLDER = new Holder("client", "host", 1, "thread", "");
  private static final LockInfo INFO =
      new LockInfo("x", Optional.empty(), Optional.empty(), Duration.ZERO, 1, Optional.empty(), 0);

  @Test
  void null_isRefused() throws Exception {
    try (Holdfast holdfast = Holdfast.builder().store(new MemoryStore()).build()) {
      DistributedLock lock = holdfast.lock("x");
      try (Hold hold = lock.acquire()) {
        new NullArguments()
            .with(LockOptions.class, LockOptions.defaults())
            .with(OnLost.class, OnLost.doNothing())
            .of(Holdfast.class, holdfast)
            .of(Holdfast.Builder.class, Holdfast.builder())
            .of(DistributedLock.class, lock)
            .of(JavaLock.class, lock.asJavaLock())
            .of(Hold.class, hold)
            .of(LockAdmin.class, holdfast.admin())
            .of(LockOptions.class, LockOptions.defaults())
            .of(LockOptions.Builder.class, LockOptions.builder())
            .of(OnLost.class, OnLost.doNothing())
            .of(LockInfo.class, INFO)
            .of(Holder.class, HOLDER)
            .of(Guarantees.class, holdfast.guarantees())
            .areRefused(40);
      }
    }
  }
}
