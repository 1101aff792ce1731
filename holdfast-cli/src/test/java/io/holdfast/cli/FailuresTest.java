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
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
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

  @Test
  void oneLine_charactersThatTurnTheDirection_areBlanks() {
    assertThat(Failures.oneLine("held by a\u202eb\u2066c\u200fd\u009be"))
        .isEqualTo("held by a b c d e");
    assertThat(Failures.harmless(" a\u202e ")).isEqualTo(" a  ");
  }

  @Test
  void explainStage_saysTheStoresWordsOrThatThereWereNone() {
    StoreException down = new StoreException("h:1: refused", Reason.UNREACHABLE, true, null);
    CliException told =
        Failures.explainStage(new ExecutionException(new CompletionException(down)), 10);
    assertThat(told).hasMessage("h:1: refused");
    assertThat(told.code()).isEqualTo(69);
    StoreException right = new StoreException("no right", Reason.REFUSED, true, null);
    assertThat(Failures.explainStage(new ExecutionException(right), 10).code()).isEqualTo(77);
    CliException late = Failures.explainStage(new TimeoutException(), 10);
    assertThat(late).hasMessage("the store did not answer within 10 s");
    assertThat(late.code()).isEqualTo(69);
  }
}
