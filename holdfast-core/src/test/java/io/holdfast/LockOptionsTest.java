// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Options: defaults, and every problem in one message. */
class LockOptionsTest {
  @Test
  void defaults_areThoseOfTheDocumentation() {
    LockOptions options = LockOptions.builder().build();
    assertThat(options).isEqualTo(LockOptions.defaults());
    assertThat(options.leaseFor()).isEqualTo(Duration.ofSeconds(30));
    assertThat(options.renew()).isTrue();
    assertThat(options.holdAtMost()).isEmpty();
    assertThat(options.holdAtLeast()).isZero();
    assertThat(options.fair()).isFalse();
    assertThat(options.note()).isEmpty();
    assertThat(options.onLost()).isEqualTo(OnLost.doNothing());
  }

  @Test
  void problems_areAllNamedAtOnce() {
    LockOptions.Builder builder = LockOptions.builder()
        .leaseFor(Duration.ZERO)
        .holdAtMost(Duration.ofSeconds(-1))
        .holdAtLeast(Duration.ofSeconds(-1))
        .note("a\nb");
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("leaseFor")
        .hasMessageContaining("holdAtMost")
        .hasMessageContaining("holdAtLeast")
        .hasMessageContaining("note");
  }

  @Test
  void toBuilder_keepsWhatWasSet() {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(5))
        .renew(false)
        .holdAtMost(Duration.ofHours(1))
        .holdAtLeast(Duration.ofMinutes(1))
        .fair(true)
        .note("n")
        .onLost(OnLost.interruptAcquirer())
        .build();
    assertThat(options.toBuilder().build()).isEqualTo(options);
  }

  @Test
  void requireGuarantee_namesWhatIsMissing() {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      Guarantees guarantees = holdfast.guarantees();
      assertThat(guarantees.require(Guarantee.FAIR)).isSameAs(guarantees);
      assertThatThrownBy(() -> guarantees.require(Guarantee.FAIR, Guarantee.EXCLUDES_MACHINES))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining("EXCLUDES_MACHINES");
    }
  }
}
