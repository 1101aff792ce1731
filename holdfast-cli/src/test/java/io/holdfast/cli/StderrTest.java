// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.Thread.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** A thread of its own for each test, because what they would wait for without end hears of no interrupt. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class StderrTest {
  private final StuckStream stream = new StuckStream();
  private final Stderr stderr = stream.stderr();

  @AfterEach
  void noThreadIsLeft() {
    stream.flow();
    stderr.settle(Await.PATIENCE);
    stream.untilWriterHasEnded();
  }

  @Test
  void line_whenItReturns_isWritten() {
    stream.flow();
    stderr.line("one");
    assertThat(stream.taken()).isEqualTo("one\n");
    stderr.line("two\nof two lines");
    assertThat(stream.taken()).isEqualTo("one\ntwo\nof two lines\n");
  }

  @Test
  void line_ofAStreamThatTakesNothing_waits() {
    Speaker speaker = Speaker.start(() -> stderr.line("one"));
    stream.untilReached();
    speaker.untilWaiting();
    stream.flow();
    speaker.untilEnded();
    assertThat(stream.taken()).isEqualTo("one\n");
  }

  /** One that began to speak before the command did, and may be needed now. */
  @Test
  void hurry_whoeverWaits_goesOn() {
    Speaker speaker = Speaker.start(() -> stderr.line("one"));
    stream.untilReached();
    speaker.untilWaiting();
    stderr.hurry();
    speaker.untilEnded();
    assertThat(stream.taken()).isEmpty();
  }

  @Test
  void hurried_nobodyWaits_andTheOrderStays() {
    stderr.hurry();
    stderr.line("one");
    stream.untilReached();
    stderr.line("two");
    stderr.progress("three", () -> true);
    stderr.line("four");
    assertThat(stream.taken()).isEmpty();
    stream.flow();
    stderr.settle(Await.PATIENCE);
    stderr.line("five");
    assertThat(stream.taken()).isEqualTo("one\ntwo\n\r\u001b[Kthree\r\u001b[Kfour\nfive\n");
  }

  @Test
  void hurried_moreThanIsKept_leavesOutTheOldestAndSaysSo() {
    stderr.hurry();
    stderr.line("first");
    stream.untilReached();
    IntStream.rangeClosed(1, Stderr.MOST + 7).forEach(number -> stderr.line("line " + number));
    stream.flow();
    stderr.settle(Await.PATIENCE);
    List<String> lines = stream.taken().lines().toList();
    assertThat(lines).hasSize(Stderr.MOST + 2);
    assertThat(lines)
        .startsWith(
            "first",
            "holdfast: stderr took nothing for a while: 7 lines are left out here",
            "line 8",
            "line 9")
        .endsWith("line " + (Stderr.MOST + 6), "line " + (Stderr.MOST + 7));
  }

  @Test
  void settle_streamThatTakesNothing_givesUp() {
    stderr.hurry();
    stderr.line("one");
    stream.untilReached();
    stderr.line("two");
    stderr.settle(Duration.ofMillis(1));
    // neither waits
    stderr.line("three");
    stderr.settle(Await.PATIENCE);
    stream.flow();
    stream.untilWriterHasEnded();
    assertThat(stream.taken()).isEqualTo("one\n");
  }

  /** As a signal does that comes while a lock is waited for. */
  @Test
  void interrupted_everythingIsWrittenAllTheSame() {
    stderr.hurry();
    stderr.line("one");
    stream.untilReached();
    Speaker speaker = Speaker.start(() -> {
      Thread.currentThread().interrupt();
      stderr.settle(Await.PATIENCE);
      stderr.line("two");
      assertThat(Thread.interrupted()).isTrue();
    });
    speaker.untilWaiting();
    assertThat(stream.taken()).isEmpty();
    stream.flow();
    speaker.untilEnded();
    assertThat(stream.taken()).isEqualTo("one\ntwo\n");
  }

  @Test
  void progress_isTakenAwayOnce() {
    stream.flow();
    stderr.clearProgress();
    assertThat(stream.taken()).isEmpty();
    stderr.progress("waiting", () -> true);
    stderr.clearProgress();
    stderr.clearProgress();
    stderr.line("done");
    assertThat(stream.taken()).isEqualTo("\r\u001b[Kwaiting\r\u001b[Kdone\n");
  }

  @Test
  void progress_thatNobodyWantsAnyMore_isNotShown() {
    stream.flow();
    stderr.line("one");
    stderr.progress("waiting", () -> false);
    assertThat(stream.taken()).isEqualTo("one\n");
  }

  /** Somebody who says something, on a thread of its own. */
  private record Speaker(Thread thread, FutureTask<Boolean> task) {
    static Speaker start(Runnable says) {
      FutureTask<Boolean> task = new FutureTask<>(says, true);
      Thread thread = new Thread(task, "speaker");
      thread.start();
      return new Speaker(thread, task);
    }

    void untilWaiting() {
      Await.until(
          "it waits",
          () -> thread.getState() == State.WAITING || thread.getState() == State.TIMED_WAITING,
          () -> thread + " " + thread.getState());
    }

    void untilEnded() {
      assertThat(task).succeedsWithin(Await.PATIENCE);
    }
  }
}
