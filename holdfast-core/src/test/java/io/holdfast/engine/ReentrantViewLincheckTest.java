// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Hold;
import io.holdfast.JavaLock;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The reentrant view: one thread owns the lock, as often as it entered; a stranger cannot unlock it. */
public class ReentrantViewLincheckTest {
  private final JavaLock lock = LincheckLocks.fresh(this::cleanUp).asJavaLock();
  private volatile @Nullable Hold lastHold;

  @AfterAll
  static void closeClient() {
    LincheckLocks.close();
  }

  /** Enters, at once or not at all. */
  @Operation
  public boolean tryLock(@Param(gen = ThreadIdGen.class) int thread) {
    boolean entered = lock.tryLock();
    if (entered) {
      lastHold = lock.hold();
    }
    return entered;
  }

  /** Leaves. */
  @Operation
  public boolean unlock(@Param(gen = ThreadIdGen.class) int thread) {
    try {
      lock.unlock();
      return true;
    } catch (IllegalMonitorStateException e) {
      return false;
    }
  }

  /** How often the thread has entered. */
  @Operation
  public int holdCount(@Param(gen = ThreadIdGen.class) int thread) {
    if (lock.isHeldByCurrentThread() != lock.holdCount() > 0) {
      throw new AssertionError("held by this thread, or not?");
    }
    return lock.holdCount();
  }

  private void cleanUp() {
    Hold hold = lastHold;
    if (hold != null) {
      hold.release();
    }
  }

  @Test
  void behavesAsAReentrantLock() {
    check(15);
  }

  /** As often as the tier has time for: {@link LincheckAtLengthTest}. */
  static void check(int iterations) {
    new StressOptions()
        .iterations(iterations)
        .invocationsPerIteration(1_000)
        .threads(3)
        .actorsPerThread(4)
        .actorsBefore(0)
        .actorsAfter(0)
        .sequentialSpecification(Model.class)
        .check(ReentrantViewLincheckTest.class);
  }

  /** What it should do. */
  public static final class Model {
    private int owner;
    private int count;

    public boolean tryLock(int thread) {
      if (count > 0 && owner != thread) {
        return false;
      }
      owner = thread;
      count++;
      return true;
    }

    public boolean unlock(int thread) {
      if (count == 0 || owner != thread) {
        return false;
      }
      count--;
      return true;
    }

    public int holdCount(int thread) {
      return owner == thread ? count : 0;
    }
  }
}
