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
 * tear-down.
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
 * <p>In a static field that is not registered, it is the server of all tests of this JVM: started when one first asks for it,
 * it ends with the JVM.
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
   * @param starts starts it; aborts the test if it is not to be had
   */
  public LazyServer(Supplier<? extends S> starts) {
    this.starts = starts;
  }

  /**
   * Returns the server, which is started by the first call.
   *
   * @return the same one each time, until it is closed
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
