// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.holdfast.testkit.Await;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** What a test has let go of is collected while that test runs. */
class GarbageTest {
  @Test
  void madeWhileATestRuns_andNotAfterwards() {
    // dev/flakes has one in every JVM
    long before = makers();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Samples.class))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("holdfast.garbage", "made")
                .build(),
            listener);
    assertThat(listener.getSummary().getTestsSucceededCount()).isOne();
    Await.until("its thread has ended", () -> makers() == before);
  }

  private static long makers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("holdfast-garbage") && thread.isDaemon())
        .count();
  }

  /** Run by the test above alone: its name does not end as a test's. */
  static class Samples {
    @Test
    void collected() {
      WeakReference<Object> forgotten = new WeakReference<>(new Object());
      Await.until("it is collected", () -> forgotten.refersTo(null));
    }
  }
}
