// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StopsTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1000 * MILLI;
  private static final Duration LONG = Duration.ofMillis(500);

  private Stops.Job job = Stops.Job.RUNNING;
  private final Stops stops = new Stops(() -> job);

  @ParameterizedTest
  @EnumSource(
      value = Stops.Job.class,
      names = {"STOPPED", "UNKNOWN"})
  void stop_jobIsStoppedOrNobodyKnows_stopsAtOnce(Stops.Job state) {
    job = state;
    assertThat(stops.stop(0)).containsExactly(Sig.TSTP);
    assertThat(stops.look(SECOND)).isEmpty();
    assertThat(stops.quiet(LONG)).isEqualTo(LONG);
  }

  @Test
  void stop_nobodyCouldContinueUs_continues() {
    job = Stops.Job.NONE;
    assertThat(stops.stop(0)).containsExactly(Sig.CONT);
  }

  @Test
  void stop_jobIsStoppedSoonAfter_stopsThen() {
    assertThat(stops.stop(0)).isEmpty();
    assertThat(stops.quiet(LONG)).isLessThan(Duration.ofMillis(50));
    assertThat(stops.look(20 * MILLI)).isEmpty();
    job = Stops.Job.STOPPED;
    assertThat(stops.look(40 * MILLI)).containsExactly(Sig.TSTP);
  }

  @Test
  void stop_weAloneWereTold_stops() {
    assertThat(stops.stop(0)).isEmpty();
    assertThat(stops.look(2 * SECOND)).containsExactly(Sig.TSTP);
  }

  /** Ctrl-Z, fg; we hear of the second first. */
  @Test
  void stop_afterItsContinue_isTooLate() {
    stops.goOn(0);
    assertThat(stops.stop(MILLI)).isEmpty();
    assertThat(stops.look(2 * SECOND + MILLI)).isEmpty();
    assertThat(stops.quiet(LONG)).isEqualTo(LONG);
  }

  /** Ctrl-Z, fg; we hear of both, too late for the first. */
  @Test
  void stop_jobGoesOnAlready_isTooLate() {
    assertThat(stops.stop(0)).isEmpty();
    stops.goOn(MILLI);
    assertThat(stops.look(2 * SECOND)).isEmpty();
  }

  /** fg, Ctrl-Z; we hear of the second first. */
  @Test
  void goOn_afterItsStop_stopsAgain() {
    job = Stops.Job.STOPPED;
    assertThat(stops.stop(0)).containsExactly(Sig.TSTP);
    stops.goOn(MILLI);
    assertThat(stops.look(2 * MILLI)).containsExactly(Sig.TSTP);
    assertThat(stops.look(3 * MILLI)).isEmpty();
  }

  @Test
  void goOn_longAfterAStop_goesOn() {
    job = Stops.Job.STOPPED;
    assertThat(stops.stop(0)).containsExactly(Sig.TSTP);
    stops.goOn(60 * SECOND);
    assertThat(stops.look(60 * SECOND)).isEmpty();
  }
}
