// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.JavaLock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** The reentrant view of a lock; what is shared between views is in {@link ThreadLock}. */
final class JavaLockView implements JavaLock {
  private final EngineLock lock;
  private final ThreadLock shared;

  JavaLockView(EngineLock lock, ThreadLock shared) {
    this.lock = lock;
    this.shared = shared;
  }

  @Override
  public void lock() {
    if (shared.enterAgain(Thread.currentThread())) {
      return;
    }
    try {
      own(lock.block(Request.Kind.THREAD_OWNED, false, null, false));
    } catch (InterruptedException e) {
      throw new AssertionError("not interruptible", e);
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!shared.enterAgain(Thread.currentThread())) {
      own(lock.block(Request.Kind.THREAD_OWNED, false, null, true));
    }
  }

  @Override
  public boolean tryLock() {
    return shared.enterAgain(Thread.currentThread())
        || owned(lock.tryOnce(Request.Kind.THREAD_OWNED));
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    Objects.requireNonNull(unit, "unit");
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (shared.enterAgain(Thread.currentThread())) {
      return true;
    }
    Duration wait = Duration.ofNanos(unit.toNanos(time));
    return owned(lock.block(Request.Kind.THREAD_OWNED, false, wait, true));
  }

  private void own(Outcome outcome) {
    lock.hold(outcome);
    owned(outcome);
  }

  private boolean owned(Outcome outcome) {
    if (outcome instanceof EngineHold hold) {
      shared.own(hold, Thread.currentThread());
      return true;
    }
    if (outcome instanceof Outcome.Failed) {
      lock.hold(outcome);
    }
    return false;
  }

  @Override
  public void unlock() {
    ThreadLock.Owner owner = shared.mineOrThrow(Thread.currentThread());
    if (--owner.count > 0) {
      throwIfLost(owner.hold.isOursByState() ? null : owner.hold.loss());
      return;
    }
    boolean wasOurs = owner.hold.isOursByState();
    shared.disown(owner);
    boolean ours = owner.hold.releaseQuietly(false);
    if (!ours) {
      throwIfLost(owner.hold.lossAtRelease(wasOurs));
    }
  }

  private void throwIfLost(@Nullable HoldLostException loss) {
    if (loss != null) {
      IllegalMonitorStateException lost = new IllegalMonitorStateException(
          "the hold on lock \"" + lock.name() + "\" was lost before it was unlocked");
      lost.initCause(loss);
      throw lost;
    }
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "a distributed lock has no conditions; poll, or use the store's own notifications");
  }

  @Override
  public boolean isHeldByCurrentThread() {
    ThreadLock.Owner owner = shared.mine(Thread.currentThread());
    return owner != null && owner.hold.isValid();
  }

  @Override
  public int holdCount() {
    ThreadLock.Owner owner = shared.mine(Thread.currentThread());
    return owner == null ? 0 : owner.count;
  }

  @Override
  public Hold hold() {
    return shared.mineOrThrow(Thread.currentThread()).hold;
  }

  @Override
  public String toString() {
    return "reentrant " + lock + ", " + shared.words();
  }
}
