// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** All workloads, on a store in memory. */
class StoreMeasurementTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void everyWorkload_isMeasured_andNothingStaysBehind() throws Exception {
    List<String> told = new ArrayList<>();
    LockStore store = Stores.open("memory:measured");
    try (Holdfast first = Holdfast.builder().store(store).build();
        Holdfast second = Holdfast.connect("memory:measured")) {
      List<Result> results = new StoreMeasurement(first, second, SECOND, told::add).run();
      assertThat(results).hasSize(5).extracting(Result::workload).isEqualTo(told);
      assertThat(results).allMatch(each -> each.violations().orElse(0) == 0);
      assertThat(results).filteredOn(each -> each.violations().isPresent()).hasSize(2);
      assertThat(results).allMatch(each -> each.cycles() > 0);
      assertThat(results.get(3).perSecond()).isEmpty();
      assertThat(results.get(3).millis(0.5)).isPresent();
      assertThat(results.get(4).millis(0.5)).isEmpty();
      LockPage page = store.list("", Optional.empty()).toCompletableFuture().get();
      assertThat(page.locks()).isEmpty();
    }
  }

  @Test
  void lessThanASecond_isRefused() {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      assertThatThrownBy(
              () -> new StoreMeasurement(holdfast, holdfast, Duration.ofMillis(999), text -> {}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a second at least");
    }
  }
}
