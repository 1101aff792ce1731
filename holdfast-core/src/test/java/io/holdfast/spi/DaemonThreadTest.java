// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DaemonThreadTest {
  @Test
  void takesNothingOverFromTheThreadThatMakesIt() throws Exception {
    InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
    AtomicReference<@Nullable String> inherited = new AtomicReference<>();
    Thread caller = Thread.currentThread();
    ClassLoader before = caller.getContextClassLoader();
    try (URLClassLoader application = new URLClassLoader(new URL[0])) {
      tenant.set("A");
      caller.setContextClassLoader(application);
      DaemonThread made = new DaemonThread(() -> inherited.set(tenant.get()), "made");
      assertThat(made.getContextClassLoader()).isSameAs(DaemonThread.class.getClassLoader());
      assertThat(made.isDaemon()).isTrue();
      made.start();
      made.join();
    } finally {
      caller.setContextClassLoader(before);
      tenant.remove();
    }
    assertThat(inherited.get()).isNull();
  }
}
