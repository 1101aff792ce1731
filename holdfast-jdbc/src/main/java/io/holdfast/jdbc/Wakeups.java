// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

/** Word of the store that a lock may have become free. A hint and nothing more: who is not told finds out by a look. */
interface Wakeups {
  /** For stores that send no word: waiters look. */
  Wakeups NONE = new Wakeups() {
    @Override
    public void needed() {}

    @Override
    public boolean areComing() {
      return false;
    }

    @Override
    public void close() {}
  };

  /** Somebody waits. Returns at once; cheap, since each new waiter says so. */
  void needed();

  /** Whether word of every release comes just now, so that looks may be rare. */
  boolean areComing();

  /** Ends what listens. */
  void close();
}
