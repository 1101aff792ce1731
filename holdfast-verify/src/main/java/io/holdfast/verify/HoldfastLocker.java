// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.spi.Stores;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Ours: what every program that uses Holdfast does. */
final class HoldfastLocker implements Locker {
  private static final Executor THREAD_EACH = task -> {
    Thread thread = new Thread(task, "holdfast-verify-stranger");
    thread.setDaemon(true);
    thread.start();
  };

  private final Holdfast holdfast;
  private final LockOptions options;

  HoldfastLocker(String uri, Duration lease, WatchedStore.Renewals renewals) {
    holdfast = Holdfast.builder()
        .store(new WatchedStore(Stores.open(uri), renewals))
        .clientName("holdfast-verify")
        // the server may be away just now; that it can be reached at all was seen before the run
        .connectLazily()
        .build();
    options = LockOptions.builder().leaseFor(lease).note("holdfast verify").build();
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost)
      throws InterruptedException {
    DistributedLock lock = holdfast.lock(name, options);
    Optional<Hold> hold = lock.tryAcquire(wait);
    hold.ifPresent(held -> {
      CompletableFuture<?> unused = held.lost().thenRun(onLost);
    });
    return hold.map(HoldfastGrip::new);
  }

  /** Two entries and two exits, with a stranger between them who must be refused. */
  @Override
  public Optional<String> tryReentrancy(String name, Witness witness) throws InterruptedException {
    JavaLock lock = holdfast.lock(name, options).asJavaLock();
    if (!lock.tryLock(1, TimeUnit.SECONDS)) {
      return Optional.empty();
    }
    Optional<String> wrong = Optional.empty();
    long token = 0;
    try {
      token = lock.hold().token();
      witness.entered(token);
      wrong = comeInAgain(lock, token, witness);
    } catch (IllegalMonitorStateException e) {
      // lost between two of these lines, which is nothing that counts
      return Optional.empty();
    } finally {
      leave(lock, token, witness);
    }
    return wrong;
  }

  private static Optional<String> comeInAgain(JavaLock lock, long token, Witness witness)
      throws InterruptedException {
    boolean again = lock.tryLock();
    boolean same = lock.isHeldByCurrentThread() && lock.hold().token() == token;
    if (same && !again) {
      return Optional.of("its owner was not let in again");
    }
    if (same && lock.holdCount() != 2) {
      return Optional.of("entered twice, and counted as " + lock.holdCount());
    }
    if (again) {
      if (same) {
        witness.reentered(token);
      }
      lock.unlock();
      if (same) {
        witness.left(token);
      }
    }
    try {
      return CompletableFuture.supplyAsync(() -> isLetOut(lock), THREAD_EACH).get()
          ? Optional.of("a thread that is not in the lock left it")
          : Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private static boolean isLetOut(JavaLock lock) {
    try {
      lock.unlock();
      return true;
    } catch (IllegalMonitorStateException e) {
      // as it should be
      return false;
    }
  }

  private static void leave(JavaLock lock, long token, Witness witness) {
    if (token != 0) {
      witness.leaving(token);
    }
    boolean lost = false;
    try {
      lock.unlock();
    } catch (IllegalMonitorStateException e) {
      // lost meanwhile: that is told, and no error here
      lost = true;
    } catch (HoldfastException e) {
      // the store did not say: what was found before is not to be lost with it
      System.getLogger(HoldfastLocker.class.getName())
          .log(System.Logger.Level.DEBUG, "the release goes on in the background", e);
      return;
    }
    if (token != 0) {
      witness.over(token, lost);
    }
  }

  @Override
  public void close() {
    holdfast.close();
  }

  private record HoldfastGrip(Hold hold) implements Grip {
    @Override
    public long token() {
      return hold.token();
    }

    @Override
    public long remainingNanos() {
      return hold.remaining().toNanos();
    }

    /** What programs ask is what is judged. */
    @Override
    public boolean isValid() {
      return hold.isValid();
    }

    @Override
    public boolean release() {
      return hold.release();
    }
  }
}
