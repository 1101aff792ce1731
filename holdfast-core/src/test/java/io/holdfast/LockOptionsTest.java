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
        .hasMessageContaining("leaseFor must be positive and at most 3660 d, not 0 ms")
        .hasMessageContaining("holdAtMost must be positive, not -1 s")
        .hasMessageContaining("holdAtLeast must be between 0 and 3660 d, not -1 s")
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

  /** What is next to a limit does not read as the limit. */
  @Test
  void leaseThatTheStoreCannotKeep_isRefusedWithTheLimits() {
    LockOptions brief =
        LockOptions.builder().leaseFor(Duration.ofNanos(49_999_999)).build();
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      assertThatThrownBy(() -> holdfast.lock("x", brief))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("leaseFor must be between 50 ms and 3650 d on memory:, not 49.999999 ms");
    }
  }

  @Test
  void timeOut_saysHowLongInWords() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("memory:");
        Hold ours = holdfast.lock("x").acquire()) {
      assertThat(ours.isValid()).isTrue();
      assertThatThrownBy(() -> holdfast.lock("x").acquire(Duration.ofMillis(5)))
          .isInstanceOf(AcquireTimeoutException.class)
          .hasMessageStartingWith("lock \"x\" was not free within 5 ms; held by java (host ");
    }
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
