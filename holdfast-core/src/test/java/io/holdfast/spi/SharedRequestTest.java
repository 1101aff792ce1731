// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SharedRequestTest {
  private static final Duration SHARED_FOR = Duration.ofNanos(100);

  private long now = Long.MAX_VALUE - 50;
  private final List<Moment> sentAt = new ArrayList<>();
  private final List<CompletableFuture<String>> sent = new ArrayList<>();

  private final SharedRequest<String> request = new SharedRequest<>(
      new Ticker() {
        @Override
        public long nanos() {
          return now;
        }

        @Override
        public long wallMillis() {
          return 0;
        }
      },
      SHARED_FOR);

  @Test
  void whileOneIsUnderWay_itServesAll() {
    CompletableFuture<String> first = ask();
    // the clock's number overflows meanwhile
    now += 99;
    CompletableFuture<String> second = ask();
    assertThat(sent).hasSize(1);
    assertThat(second).isNotDone();
    sent.get(0).complete("answer");
    assertThat(first).isCompletedWithValue("answer");
    assertThat(second).isCompletedWithValue("answer");
  }

  @Test
  void answer_servesNoneThatAskBehindIt() {
    CompletableFuture<String> unused = ask();
    sent.get(0).complete("old");
    CompletableFuture<String> next = ask();
    assertThat(sent).hasSize(2);
    assertThat(next).isNotDone();
  }

  @Test
  void withoutAnAnswerForTooLong_theNextCallerSendsAgain_andThatOneServesTheOthers() {
    CompletableFuture<String> first = ask();
    now += 100;
    CompletableFuture<String> second = ask();
    assertThat(sent).hasSize(2);
    assertThat(sentAt.get(1).nanos() - sentAt.get(0).nanos()).isEqualTo(100);
    // an answer after all is that of the callers that waited for it
    sent.get(0).complete("late");
    assertThat(first).isCompletedWithValue("late");
    assertThat(second).isNotDone();
    CompletableFuture<String> third = ask();
    assertThat(sent).hasSize(2);
    sent.get(1).complete("answer");
    assertThat(second).isCompletedWithValue("answer");
    assertThat(third).isCompletedWithValue("answer");
  }

  @Test
  void sharesNoneThatWasSentTooEarly() {
    CompletableFuture<String> unused = ask();
    long sentFirst = now;
    now += 10;
    assertThat(request.ask(sentFirst, this::send)).isNotDone();
    assertThat(sent).hasSize(1);
    assertThat(request.ask(sentFirst + 1, this::send)).isNotDone();
    assertThat(sent).hasSize(2);
  }

  @Test
  void failure_isToldToAll_andServesNoneThatAskBehindIt() {
    CompletableFuture<String> first = ask();
    CompletableFuture<String> second = ask();
    IllegalStateException failure = new IllegalStateException("not so");
    sent.get(0).completeExceptionally(failure);
    assertFailed(first, failure);
    assertFailed(second, failure);
    CompletableFuture<String> unused = ask();
    assertThat(sent).hasSize(2);
  }

  @Test
  void whatSendingThrows_failsTheAnswer() {
    IllegalStateException failure = new IllegalStateException("closed");
    CompletableFuture<String> answer = request.ask(moment -> {
      throw failure;
    });
    assertFailed(answer, failure);
    CompletableFuture<String> unused = ask();
    assertThat(sent).hasSize(1);
  }

  /** Also an Error, and a stage that is missing: callers that share the request would else wait. */
  @Test
  void whatIsNoAnswer_failsTheRequest() {
    LinkageError error = new LinkageError("of a driver");
    CompletableFuture<String> failed = request.ask(moment -> {
      throw error;
    });
    assertFailed(failed, error);
    assertThat(request.ask(this::none)).isCompletedExceptionally();
    assertThat(ask()).isNotDone();
    assertThat(sent).hasSize(1);
  }

  @SuppressWarnings("NullAway") // what no store should do
  private CompletableFuture<String> none(Moment moment) {
    return null;
  }

  /** One caller that gives its future up takes nothing away from the others. */
  @Test
  void callersHaveFuturesOfTheirOwn() {
    CompletableFuture<String> first = ask();
    CompletableFuture<String> second = ask();
    first.cancel(false);
    CompletableFuture<String> third = ask();
    sent.get(0).complete("answer");
    assertThat(second).isCompletedWithValue("answer");
    assertThat(third).isCompletedWithValue("answer");
    assertThat(sent).hasSize(1);
  }

  /** Nor does a caller that was served by another one's request. */
  @Test
  void callersThatShareARequest_haveFuturesOfTheirOwn() {
    CompletableFuture<String> first = ask();
    CompletableFuture<String> second = ask();
    second.cancel(false);
    CompletableFuture<String> third = ask();
    sent.get(0).complete("answer");
    assertThat(first).isCompletedWithValue("answer");
    assertThat(third).isCompletedWithValue("answer");
    assertThat(sent).hasSize(1);
  }

  private static void assertFailed(CompletableFuture<String> future, Throwable why) {
    assertThat(future).isCompletedExceptionally();
    assertThatThrownBy(future::join).hasCause(why);
  }

  private CompletableFuture<String> ask() {
    return request.ask(this::send);
  }

  private CompletableFuture<String> send(Moment moment) {
    sentAt.add(moment);
    CompletableFuture<String> one = new CompletableFuture<>();
    sent.add(one);
    return one;
  }
}
