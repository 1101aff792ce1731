// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A thread of the library's own. It serves all callers, so that it takes nothing over from the one that happened to need
 * it first: no inheritable thread-locals, of which a routing data source may read whose database is meant, and no context
 * class loader, which would be kept from being unloaded.
 *
 * <pre>{@code
 * new DaemonThread(this::run, "holdfast-jdbc-listener").start();
 * }</pre>
 */
public class DaemonThread extends Thread {
  /**
   * Makes a thread, without starting it.
   *
   * @param task what it does; null if {@link #run} is overridden
   * @param name the thread's name
   */
  @SuppressWarnings("this-escape")
  public DaemonThread(@Nullable Runnable task, String name) {
    super(null, task, Objects.requireNonNull(name, "name"), 0, false);
    setDaemon(true);
    setContextClassLoader(DaemonThread.class.getClassLoader());
  }
}
