// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.HoldLostException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
  @ParameterizedTest
  @CsvSource({"UNREACHABLE, 69", "FULL, 69", "DAMAGED, 69", "REFUSED, 77"})
  void explain_store_byItsReason(Reason reason, int code) {
    CliException told =
        Failures.explain(new StoreUnavailableException("down", "l", "s", reason, null));
    assertThat(told.code()).isEqualTo(code);
    assertThat(told).hasMessage("down");
  }

  @Test
  void explain_ourExceptions_eachHasItsCode() {
    assertThat(Failures.explain(new AcquireUnknownException("silent", "l", "s", null))
            .code())
        .isEqualTo(69);
    assertThat(Failures.explain(new AcquireTimeoutException("l", "s", Duration.ZERO, null))
            .code())
        .isEqualTo(75);
    assertThat(Failures.explain(new HoldLostException("l", "s", 1, Instant.EPOCH, LossReason.GONE))
            .code())
        .isEqualTo(76);
    assertThat(Failures.explain(new ConfigurationException("wrong", "s", null)).code())
        .isEqualTo(64);
    assertThat(Failures.explain(new IllegalArgumentException("bad name")).code())
        .isEqualTo(64);
    assertThat(Failures.explain(new CliException(126, "no")).code()).isEqualTo(126);
  }

  @Test
  void explain_anythingElse_isOurBug() {
    CliException told = Failures.explain(new IllegalStateException("oops"));
    assertThat(told.code()).isEqualTo(70);
    assertThat(told).hasMessageContaining("a bug in holdfast").hasMessageContaining("oops");
  }

  @Test
  void oneLine_controlCharacters_areBlanks() {
    assertThat(Failures.oneLine("a\nb\u001b[31mc\t")).isEqualTo("a b [31mc");
  }
}
