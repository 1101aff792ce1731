// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Who calls, for the engine: a thread that is alive and never does anything. Its callers' steps run on the simulator's
 * one thread. Each worker has a few of them, used again in every run.
 */
final class SimThread extends Thread {
  private static final ThreadLocal<List<SimThread>> POOL = ThreadLocal.withInitial(ArrayList::new);

  private volatile @Nullable Runnable onInterrupt;

  private SimThread(int number) {
    super("caller-" + number);
    setDaemon(true);
  }

  /** Returns this worker's thread with a number. */
  static SimThread numbered(int number) {
    List<SimThread> pool = POOL.get();
    while (pool.size() <= number) {
      SimThread fresh = new SimThread(pool.size());
      fresh.start();
      pool.add(fresh);
    }
    SimThread thread = pool.get(number);
    thread.onInterrupt = null;
    return thread;
  }

  void onInterrupt(Runnable work) {
    onInterrupt = work;
  }

  @Override
  public void run() {
    while (true) {
      LockSupport.park(this);
    }
  }

  /** The engine interrupts the holder of a lost lock: its caller's script is told instead. */
  @Override
  public void interrupt() {
    Runnable work = onInterrupt;
    if (work != null) {
      work.run();
    }
  }
}
