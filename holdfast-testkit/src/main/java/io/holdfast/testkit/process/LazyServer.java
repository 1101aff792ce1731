// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server, or several, for all tests of a class: started before the first one at the latest, closed after the last one.
 * Where it cannot be started because this machine does not have it, the class is not run: neither its set-up nor its
 * tear-down. It is for a static field.
 *
 * <pre>{@code
 * class MyTest {
 *   @RegisterExtension
 *   static final LazyServer<EtcdServer> SERVER = new LazyServer<>(EtcdServer::with);
 *
 *   @Test
 *   void answers() {
 *     connect(SERVER.get().uri());
 *   }
 * }
 * }</pre>
 *
 * <p>In a static field that is not registered, it is the server of all tests of this JVM: it is started when a test first asks
 * for it, and is not closed. (A server's process ends with the JVM.)
 *
 * @param <S> what is started
 */
public final class LazyServer<S extends AutoCloseable>
    implements BeforeAllCallback, AfterAllCallback {
  private final Supplier<? extends S> starts;
  private @Nullable S started;

  /**
   * Starts nothing yet.
   *
   * @param starts starts the server; throws {@link org.opentest4j.TestAbortedException} if this machine has none
   */
  public LazyServer(Supplier<? extends S> starts) {
    this.starts = starts;
  }

  /**
   * Returns the server. The first call starts it. If the start fails, the next call tries again.
   *
   * @return the same one each time, until it is closed
   * @throws org.opentest4j.TestAbortedException if this machine has none
   */
  public synchronized S get() {
    S running = started;
    if (running == null) {
      running = starts.get();
      started = running;
    }
    return running;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    get();
  }

  @Override
  public synchronized void afterAll(ExtensionContext context) throws Exception {
    S running = started;
    if (running != null) {
      started = null;
      running.close();
    }
  }
}
