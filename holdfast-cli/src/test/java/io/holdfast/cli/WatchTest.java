// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.LossReason;
import io.holdfast.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchTest {
  private static final String LOST =
      "holdfast: lost the lock \"a lock\": " + LossReason.GONE.explanation();

  @TempDir
  Path folder = Path.of("set before each test");

  private Path uptime = folder;

  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final FakeChild child = new FakeChild(events);
  private final FakeHold hold = new FakeHold();
  private final StuckStream stream = new StuckStream().flow();
  private Messages messages = new Messages(stream.stderr(), Messages.Level.USUAL);

  @BeforeEach
  void readsAClock() throws IOException {
    uptime = folder.resolve("uptime");
    Files.writeString(uptime, "1000.00 1.00\n");
  }

  @Test
  void untilEnded_commandEnds_returnsItsStatus() throws InterruptedException {
    events.add(new Event.Ended(3));
    assertThat(watch(true).untilEnded()).isEqualTo(3);
    assertThat(child.orders).isEmpty();
  }

  @Test
  void untilEnded_commandIsReady_beginsWithTheToken() throws InterruptedException {
    events.add(new Event.Ready());
    events.add(new Event.Ended(0));
    assertThat(watch(true).untilEnded()).isZero();
    assertThat(child.begunWith).containsExactly(1L);
  }

  /** The shell took so long to start that the hold has come to its end: nothing may begin that would be killed at once. */
  @Test
  void untilEnded_readyTooLate_doesNotBegin() {
    events.add(new Event.Ready());
    events.add(new Event.Ended(0));
    hold.later = Duration.ofSeconds(2);
    assertThatThrownBy(() -> watch(true).untilEnded())
        .isInstanceOf(CliException.class)
        .hasMessage("the lock \"a lock\" could not be renewed and ends in 2 s: the command did not"
            + " begin")
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(Exit.LOST);
    assertThat(child.begunWith).isEmpty();
  }

  @Test
  void untilEnded_readyAfterTheLoss_doesNotBegin() {
    events.add(new Event.Ready());
    events.add(new Event.Ended(0));
    hold.later = Duration.ZERO;
    assertThatThrownBy(() -> watch(false).untilEnded())
        .isInstanceOf(CliException.class)
        .hasMessage("lost the lock \"a lock\" before the command began");
    assertThat(child.begunWith).isEmpty();
  }

  /** It was told to end before it was ready, and is being killed: its end says how it was. */
  @Test
  void untilEnded_readyAfterTheKill_doesNotBegin() throws InterruptedException {
    hold.remaining = Duration.ZERO;
    events.add(new Event.Ready());
    events.add(new Event.Ended(137));
    assertThat(watch(true).untilEnded()).isEqualTo(137);
    assertThat(child.begunWith).isEmpty();
  }

  /** Should we be killed, the command ends before the lock can pass on: here two seconds before. */
  @Test
  void untilEnded_endIsTold_beforeTheCommandBeginsAndWithEachRenewal() throws Exception {
    Files.writeString(uptime, "1000.99 1.00\n");
    events.add(new Event.Ready());
    events.add(new Event.Ended(0));
    hold.remaining = Duration.ofMillis(20_990);
    hold.later = Duration.ofSeconds(29);
    watch(true).untilEnded();
    assertThat(child.ends).containsExactly(10_009L + 189, 10_009L + 270);
    assertThat(child.endsAtBegin).isEqualTo(1);
  }

  @Test
  void untilEnded_onLostWarn_tellsNoEnd() throws Exception {
    events.add(new Event.Ended(0));
    watch(false).untilEnded();
    assertThat(child.ends).isEmpty();
  }

  @Test
  void untilEnded_signals_arePassedOnInOrder() throws InterruptedException {
    events.add(new Event.Signalled(Sig.TSTP));
    events.add(new Event.Signalled(Sig.CONT));
    child.endsAt = Sig.INT;
    events.add(new Event.Signalled(Sig.INT));
    assertThat(watch(true).untilEnded()).isEqualTo(130);
    assertThat(child.orders).containsExactly(Sig.TSTP, Sig.CONT, Sig.INT);
  }

  @Test
  void untilEnded_renewalsStayAway_termsAndSaysSo() throws InterruptedException {
    hold.remaining = Duration.ofSeconds(9);
    child.endsAt = Sig.TERM;
    assertThat(watch(true).untilEnded()).isEqualTo(143);
    assertThat(child.orders).containsExactly(Sig.TERM);
    assertThat(said())
        .startsWith("holdfast: the lock \"a lock\" could not be renewed and ends in 9 s");
  }

  @Test
  void untilEnded_holdLost_kills() throws InterruptedException {
    events.add(new Event.Lost());
    hold.remaining = Duration.ZERO;
    child.endsAt = Sig.KILL;
    assertThat(watch(true).untilEnded()).isEqualTo(137);
    assertThat(said()).isEqualTo(LOST + "; the command is being killed\n");
  }

  @Test
  void untilEnded_commandEndsBeforeTheEventOfItsLoss_saysSoAllTheSame()
      throws InterruptedException {
    hold.remaining = Duration.ZERO;
    child.endsAt = Sig.KILL;
    assertThat(watch(true).untilEnded()).isEqualTo(137);
    losses(true).foundAtRelease(hold);
    assertThat(said()).startsWith(LOST + "; the command is being killed\n");
  }

  @Test
  void lossReport_foundAtRelease_saysItOnceWithTheReason() {
    hold.remaining = Duration.ZERO;
    LossReport losses = losses(true);
    losses.foundAtRelease(hold);
    losses.foundAtRelease(hold);
    losses.whileRunning(hold);
    assertThat(said())
        .isEqualTo("holdfast: lost the lock \"a lock\" before it was given back: "
            + LossReason.GONE.explanation() + "\n");
  }

  /** Nothing has failed: it was asked for. */
  @Test
  void lossReport_atMostIsOver_saysSo() {
    LossReport losses = new LossReport(messages, true, Optional.of(Duration.ofSeconds(2)));
    losses.commandIsToldToEnd(hold, Duration.ofMillis(600));
    hold.reason = LossReason.HELD_TOO_LONG;
    hold.remaining = Duration.ZERO;
    losses.whileRunning(hold);
    assertThat(said())
        .isEqualTo("holdfast: --at-most 2 s of the lock \"a lock\" ends in 600 ms: the command was"
            + " told to end (SIGTERM), and is killed soon after\n"
            + "holdfast: lost the lock \"a lock\": --at-most 2 s is over; the command is being"
            + " killed\n");
  }

  /** It was limited, and could not be renewed long before the limit. */
  @Test
  void lossReport_renewalsFailBeforeAtMost_saysSo() {
    LossReport losses = new LossReport(messages, true, Optional.of(Duration.ofHours(2)));
    hold.atRisk = true;
    losses.commandIsToldToEnd(hold, Duration.ofSeconds(9));
    assertThat(said())
        .startsWith("holdfast: the lock \"a lock\" could not be renewed and ends in 9 s: ");
  }

  /** As when it was taken away so late that only the release has noticed. */
  @Test
  void lossReport_goneAtTheRelease_saysSo() {
    hold.released = true;
    losses(true).foundAtRelease(hold);
    assertThat(said())
        .isEqualTo("holdfast: lost the lock \"a lock\" before it was given back: "
            + LossReason.GONE.explanation() + "\n");
  }

  @Test
  void untilEnded_holdLostWithWarn_onlySaysSo() throws InterruptedException {
    hold.remaining = Duration.ZERO;
    events.add(new Event.Lost());
    events.add(new Event.Ended(0));
    assertThat(watch(false).untilEnded()).isZero();
    assertThat(child.orders).isEmpty();
    assertThat(said()).contains("the command goes on (--on-lost warn)");
  }

  /** A terminal that Ctrl-S has stopped, or a pipe that nobody reads. */
  @Test
  void untilEnded_stderrTakesNothing_killsInTimeAndSaysWhyLater() throws Exception {
    StuckStream stuck = new StuckStream();
    messages = new Messages(stuck.stderr(), Messages.Level.USUAL);
    messages.hurry();
    hold.remaining = Duration.ofSeconds(9);
    child.endsAt = Sig.KILL;
    FutureTask<Integer> watch = new FutureTask<>(() -> watch(true).untilEnded());
    new Thread(watch, "watch").start();
    stuck.untilReached();
    assertThat(child.orders).containsExactly(Sig.TERM);
    hold.remaining = Duration.ZERO;
    assertThat(watch.get(Await.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(137);
    assertThat(child.orders).containsExactly(Sig.TERM, Sig.KILL);
    assertThat(stuck.taken()).isEmpty();
    stuck.flow();
    messages.settle();
    assertThat(stuck.taken().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("holdfast: the lock \"a lock\" could not be"),
            line -> assertThat(line).isEqualTo(LOST + "; the command is being killed"));
    stuck.untilWriterHasEnded();
  }

  private String said() {
    return stream.taken();
  }

  private Watch watch(boolean kills) {
    KillPlan plan = new KillPlan(Duration.ofSeconds(7), Duration.ofSeconds(2));
    return new Watch(
        hold,
        child,
        new Guard(plan, kills, new Stops(() -> Stops.Job.UNKNOWN)),
        events,
        Ticker.system(),
        new SharedClock(uptime, Ticker.system()),
        losses(kills));
  }

  private LossReport losses(boolean kills) {
    return new LossReport(messages, kills, Optional.empty());
  }

  private static final class FakeChild implements Child {
    final List<Sig> orders = new CopyOnWriteArrayList<>();
    final List<Long> ends = new CopyOnWriteArrayList<>();
    final List<Long> begunWith = new CopyOnWriteArrayList<>();
    private final BlockingQueue<Event> events;
    int endsAtBegin;

    @Nullable
    Sig endsAt;

    FakeChild(BlockingQueue<Event> events) {
      this.events = events;
    }

    @Override
    public void endBy(long tenths) {
      ends.add(tenths);
    }

    @Override
    public void begin(long token) {
      begunWith.add(token);
      endsAtBegin = ends.size();
    }

    @Override
    public void order(Sig signal) {
      orders.add(signal);
      if (signal == endsAt) {
        events.add(new Event.Ended(Exit.of(signal)));
      }
    }

    @Override
    public int waitFor() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private static final class FakeHold implements Hold {
    volatile Duration remaining = Duration.ofSeconds(29);

    /** What remains from the second look on. */
    volatile @Nullable Duration later;

    boolean released;
    boolean atRisk;
    LossReason reason = LossReason.GONE;

    @Override
    public String lockName() {
      return "a lock";
    }

    @Override
    public long token() {
      return 1;
    }

    @Override
    public HoldState state() {
      if (released) {
        return HoldState.RELEASED;
      }
      return remaining.isZero() ? HoldState.LOST : atRisk ? HoldState.AT_RISK : HoldState.HELD;
    }

    @Override
    public boolean isValid() {
      return !remaining.isZero();
    }

    @Override
    public Duration remaining() {
      Duration now = remaining;
      Duration next = later;
      if (next != null) {
        remaining = next;
      }
      return now;
    }

    @Override
    public void ensureValid() {
      if (released) {
        throw new IllegalStateException("the hold was released");
      }
      if (remaining.isZero()) {
        throw new HoldLostException("a lock", "store", 1, Instant.EPOCH, reason);
      }
    }

    @Override
    public CompletableFuture<@Nullable Void> lost() {
      return new CompletableFuture<>();
    }

    @Override
    public Hold detach() {
      return this;
    }

    @Override
    public boolean release() {
      return true;
    }

    @Override
    public boolean releaseNow() {
      return true;
    }

    @Override
    public void close() {}
  }
}
