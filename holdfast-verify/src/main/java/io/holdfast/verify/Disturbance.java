// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The faults of a run, one after another, in turns, so that each takes place in a short run too. */
final class Disturbance {
  private final Crew crew;
  private final @Nullable OwnServer server;
  private final @Nullable Failovers failovers;
  private final Journal journal;
  private final SplittableRandom random;
  private final Ticker ticker;
  private final long leaseNanos;
  private final List<Fault> faults;
  private int turn;
  private long nextAt;

  /** What ends the fault that lasts, if one does. */
  private @Nullable End end;

  /** What ends a fault. */
  @FunctionalInterface
  private interface End {
    void run() throws IOException, InterruptedException;
  }

  Disturbance(
      Crew crew,
      @Nullable OwnServer server,
      @Nullable Failovers failovers,
      VerifySettings settings,
      Journal journal,
      Ticker ticker,
      SplittableRandom random) {
    this.ticker = ticker;
    this.crew = crew;
    this.server = server;
    this.failovers = failovers;
    this.journal = journal;
    this.random = random;
    leaseNanos = settings.lease().toNanos();
    faults = new ArrayList<>(settings.faults());
    faults.sort(null);
    turn = faults.isEmpty() ? 0 : random.nextInt(faults.size());
    nextAt = ticker.nanos() + random.nextLong(leaseNanos / 2);
  }

  /** Begins or ends a fault, if it is time. */
  void step() throws IOException, InterruptedException {
    if (faults.isEmpty() || ticker.nanos() - nextAt < 0) {
      return;
    }
    if (end != null) {
      quiet();
      nextAt = ticker.nanos() + random.nextLong(leaseNanos / 2);
      return;
    }
    Fault fault = faults.get(turn++ % faults.size());
    begin(fault);
    long lasts = end == null
        ? random.nextLong(leaseNanos)
        : leaseNanos / 4 + random.nextLong(leaseNanos * 7 / 4);
    nextAt = ticker.nanos() + lasts;
  }

  private void begin(Fault fault) throws IOException, InterruptedException {
    switch (fault) {
      case PAUSE -> {
        crew.pause();
        end = crew::resume;
      }
      case KILL -> crew.kill();
      case RESTART -> {
        say(What.RESTARTING, 0);
        server().restart();
        say(What.RESTARTED, 0);
      }
      case PARTITION -> {
        say(What.CUT, 0);
        server().cut();
        end = () -> {
          server().heal();
          say(What.HEALED, 0);
        };
      }
      case CLOCK -> {
        setClock(Duration.ofNanos(random.nextLong(-leaseNanos * 2, leaseNanos * 2)));
        end = () -> setClock(Duration.ZERO);
      }
      case FAILOVER -> failOver(Objects.requireNonNull(failovers, "failovers"));
    }
  }

  private void failOver(Failovers sentinels) throws IOException, InterruptedException {
    if (sentinels.areWell()) {
      say(What.FAILING_OVER, 0);
      sentinels.failOver(Duration.ofNanos(leaseNanos));
      say(What.FAILED_OVER, 0);
      end = sentinels::awaitWell;
    }
  }

  private void setClock(Duration ahead) {
    say(What.STEPPED, ahead.toNanos());
    server().setClock(ahead);
  }

  private OwnServer server() {
    return Objects.requireNonNull(server, "a fault of a server that is not ours");
  }

  /** Ends what lasts. */
  void quiet() throws IOException, InterruptedException {
    End ending = end;
    end = null;
    if (ending != null) {
      ending.run();
    }
  }

  private void say(What what, long number) {
    journal.add(new Fact(what, ticker.nanos(), "", "", 0, number, ""));
  }
}
