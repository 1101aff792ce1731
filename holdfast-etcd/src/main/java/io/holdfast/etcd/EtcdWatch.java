// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A watch on one key. It can be closed before it has begun: then it is closed when it has. */
final class EtcdWatch {
  final ByteSequence key;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private boolean closed;
  private Watch.@Nullable Watcher watcher;

  EtcdWatch(ByteSequence key) {
    this.key = key;
  }

  /** Begins it, once. The listener may be told something before this returns. */
  void begin(EtcdCalls calls, Watch.Listener listener) {
    Watch.Watcher begun;
    try {
      begun = calls.watch(key, listener);
    } catch (RuntimeException e) {
      // the client was closed; should it only be ill, a renewal has the turn looked for
      return;
    }
    boolean useless;
    lock.lock();
    try {
      watcher = begun;
      useless = closed;
    } finally {
      lock.unlock();
    }
    if (useless) {
      begun.close();
    }
  }

  void close() {
    Watch.Watcher begun;
    lock.lock();
    try {
      closed = true;
      begun = watcher;
    } finally {
      lock.unlock();
    }
    if (begun != null) {
      begun.close();
    }
  }
}
