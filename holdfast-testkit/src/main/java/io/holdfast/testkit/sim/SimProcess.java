// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.Scheduler;
import io.holdfast.engine.EngineBuilder;
import io.holdfast.engine.EngineTrace;
import io.holdfast.engine.SteppedCall;
import io.holdfast.spi.ClaimId;
import io.holdfast.testkit.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** One process: its clocks, its client with the production engine in it, and its callers. */
final class SimProcess implements Scheduler, Executor, EngineTrace {
  final SimWorld world;
  final int number;
  final SimClock clock;
  final SimStore store;
  final Holdfast holdfast;
  final List<SimActor> actors = new ArrayList<>();
  final List<SimHold> holds = new ArrayList<>();
  private final SplittableRandom random;
  private final Map<ClaimId, Claimed> claims = new HashMap<>();

  private boolean dead;
  private boolean closing;
  private long pausedUntil;
  private boolean deferred;
  private long cutUntil;

  /** What the trace has told of a claim. */
  private static final class Claimed {
    char phase;
    boolean wasHeld;
    long revision;
  }

  SimProcess(SimWorld world, int number, SplittableRandom random) {
    this.world = world;
    this.number = number;
    this.random = random;
    double drift = world.setup.maxDrift;
    this.clock = new SimClock(world, 1 + (random.nextDouble() * 2 - 1) * drift);
    clock.stepWall(random.nextLong(4 * Setup.SECOND) - 2 * Setup.SECOND);
    this.store = new SimStore(world, this);
    this.holdfast = new EngineBuilder()
        .trace(this)
        .store(store)
        .clientName("process-" + number)
        .requestTimeout(Duration.ofNanos(world.setup.requestTimeout))
        .storeRetryFor(Duration.ofNanos(world.setup.storeRetry))
        .ticker(clock)
        .scheduler(this)
        .callbackExecutor(this)
        .random(random)
        .connectLazily()
        .build();
  }

  boolean isDead() {
    return dead;
  }

  boolean isRunning() {
    return !dead && world.now >= pausedUntil;
  }

  boolean isClosing() {
    return closing;
  }

  // running

  /** Runs something in this process after a while. */
  void after(long nanos, Runnable work) {
    world.add(new SimTask(world.now + nanos, this, 0, work));
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    long localDue = clock.nanos() + Math.max(0, delayNanos);
    SimTask timer =
        new SimTask(Math.max(world.now, clock.worldTimeOf(localDue)), this, localDue, task);
    world.add(timer);
    return timer;
  }

  /** The callback executor. */
  @Override
  public void execute(Runnable work) {
    after(random.nextInt(8) == 0 ? random.nextLong(3 * Setup.MILLI) : 10_000, work);
    if (world.flaw == Flaw.CALLBACKS_TWICE) {
      after(100_000, work);
    }
  }

  /** Takes a task whose time has come: now, when the process runs again, or never. */
  void run(SimTask task, Runnable work) {
    if (dead) {
      return;
    }
    if (world.now < pausedUntil) {
      deferred = true;
      task.due = pausedUntil;
      world.add(task);
      return;
    }
    if (task.localDue != 0 && clock.nanos() < task.localDue) {
      // a clock that stands still for another reason than a sleep is looked at again soon
      task.due = Math.max(world.now + 100_000, clock.worldTimeOf(task.localDue));
      world.add(task);
      return;
    }
    work.run();
  }

  // faults

  void pause(long nanos, boolean sleeps) {
    if (dead || world.now < pausedUntil) {
      return;
    }
    deferred = false;
    world.record(Kind.PAUSED, number, "", "", "", 0, 0, 0);
    // the world's own task: it comes before all that was deferred to this moment
    world.add(new SimTask(world.now + nanos, null, 0, () -> resume(nanos, sleeps)));
    pausedUntil = world.now + nanos;
  }

  private void resume(long nanos, boolean sleeps) {
    if (dead) {
      return;
    }
    if (sleeps) {
      clock.slept(nanos);
    }
    if (deferred) {
      world.count(sleeps ? Fault.SUSPEND : Fault.PAUSE);
    }
    world.record(Kind.RESUMED, number, "", "", "", sleeps ? nanos : 0, 0, 0);
    probeAll();
  }

  void crash() {
    dead = true;
    world.count(Fault.CRASH);
    world.record(Kind.CRASHED, number, "", "", "", 0, 0, 0);
  }

  /** Cuts the process off from the store. */
  void cut(long nanos, boolean noticed) {
    cutUntil = world.now + nanos;
    if (noticed) {
      store.disturbed();
      after(nanos, store::restored);
    }
  }

  boolean isCut() {
    return world.now < cutUntil;
  }

  void heal() {
    cutUntil = 0;
  }

  // closing

  void close() {
    if (dead || closing) {
      return;
    }
    closing = true;
    world.record(Kind.CLOSING, number, "", "", "", 0, 0, 0);
    CompletableFuture<?> ended = SteppedCall.beginClose(holdfast);
    if (ended == null) {
      return;
    }
    boolean[] done = {false};
    Runnable finish = () -> {
      if (!done[0]) {
        done[0] = true;
        SteppedCall.finishClose(holdfast);
        world.record(Kind.CLOSED, number, "", "", "", 0, 0, 0);
        after(Setup.SECOND, () -> dead = true);
      }
    };
    CompletableFuture<?> unused = ended.whenComplete((all, failure) -> after(0, finish));
    after(world.setup.requestTimeout, finish);
  }

  // holds

  /** Asks the holds of one grant whether they are valid, and writes the answers down. */
  void probe(String lock, long revision) {
    if (!isRunning()) {
      return;
    }
    for (SimHold hold : holds) {
      if (hold.revision() == revision && hold.lock.equals(lock)) {
        hold.probe();
      }
    }
  }

  private void probeAll() {
    for (SimHold hold : holds) {
      hold.probe();
    }
  }

  // the trace

  @Override
  public void claimMoved(ClaimId id, String from, String to) {
    world.claimMoved(from.charAt(0), to.charAt(0));
    Claimed claimed = claims.computeIfAbsent(id, unknown -> new Claimed());
    claimed.phase = to.charAt(0);
    if (claimed.phase == 'H') {
      claimed.wasHeld = true;
    } else if (claimed.phase == 'E') {
      world.record(Kind.CLAIM_ENDING, number, "", world.nameOf(id), "", 0, 0, 0);
    } else if (claimed.phase == 'O') {
      world.record(Kind.CLAIM_OVER, number, "", world.nameOf(id), "", 0, 0, 0);
    }
  }

  @Override
  public void holdMoved(HoldState from, HoldState to) {
    world.holdMoved(from, to);
  }

  private char phase(ClaimId id) {
    Claimed claimed = claims.get(id);
    return claimed == null ? 'A' : claimed.phase;
  }

  boolean hasEnded(ClaimId id) {
    char phase = phase(id);
    return phase == 'E' || phase == 'O';
  }

  boolean isHeldOrOver(ClaimId id) {
    return phase(id) == 'H' || hasEnded(id);
  }

  boolean wasHeld(ClaimId id) {
    Claimed claimed = claims.get(id);
    return claimed != null && claimed.wasHeld;
  }

  void granted(ClaimId id, long revision) {
    claims.computeIfAbsent(id, unknown -> new Claimed()).revision = revision;
  }

  long revisionOf(ClaimId id) {
    Claimed claimed = claims.get(id);
    return claimed == null ? 0 : claimed.revision;
  }
}
