// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.LockOptions;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A world in which nothing happens but what a script says, at the times that it says, in milliseconds. */
final class Scene {
  static final String LOCK = "lock";

  final SimWorld world;
  private final ScriptedFates fates;
  private final List<Runnable> checks = new ArrayList<>();
  private final List<Ask> asks = new ArrayList<>();

  Scene(SimWorld world, ScriptedFates fates) {
    this.world = world;
    this.fates = fates;
  }

  SimProcess process(int number) {
    return world.processes.get(number);
  }

  // what the script says

  /** Something happens to the world. */
  void at(long millis, Runnable work) {
    world.after(millis * Setup.MILLI, work);
  }

  /** A process does something; later, if it does not run then. */
  void at(long millis, int process, Runnable work) {
    world.add(new SimTask(millis * Setup.MILLI, process(process), 0, work));
  }

  /** Begins to say what becomes of a message. */
  ScriptedFates.Rule on(int process, Fates.Message message) {
    return fates.on(process(process), message);
  }

  /** The process cannot reach the store, and does not notice. */
  void cut(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).cut((untilMillis - millis) * Setup.MILLI, false));
  }

  /** The process does not run; its clocks do. */
  void pause(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).pause((untilMillis - millis) * Setup.MILLI, false));
  }

  /** The machine sleeps, and its monotonic clock with it. */
  void suspend(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).pause((untilMillis - millis) * Setup.MILLI, true));
  }

  void close(long millis, int process) {
    at(millis, process, process(process)::close);
  }

  void crash(long millis, int process) {
    at(millis, process(process)::crash);
  }

  /** From here on everything goes well, and all that waits is judged. */
  void quiet(long millis) {
    at(millis, () -> world.operations = world.setup.operations);
  }

  /** What must be true at some time, with the right protocol. */
  void check(long millis, Runnable check) {
    if (world.flaw == null) {
      at(millis, check);
    }
  }

  /** What must be true in the end, with the right protocol. */
  void inTheEnd(Runnable check) {
    checks.add(check);
  }

  void checkEnd() {
    checks.forEach(Runnable::run);
  }

  // what callers do

  /** Waits for the lock without a limit. */
  Ask acquire(long millis, int process) {
    return acquire(millis, process, options -> options);
  }

  Ask acquire(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    begin(millis, ask, ask::acquire);
    return ask;
  }

  Ask acquireWithin(
      long waitMillis, long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    begin(millis, ask, () -> ask.acquireWithin(waitMillis));
    return ask;
  }

  Ask tryAcquire(long millis, int process) {
    return tryAcquire(millis, process, options -> options);
  }

  Ask tryAcquire(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    begin(millis, ask, ask::tryAcquire);
    return ask;
  }

  /** Waits as a thread does. */
  Ask block(long millis, int process) {
    return block(millis, process, options -> options);
  }

  Ask block(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    begin(millis, ask, ask::block);
    return ask;
  }

  private void begin(long millis, Ask ask, Runnable request) {
    asks.add(ask);
    at(millis, ask.process.number, () -> {
      if (!ask.process.isClosing()) {
        request.run();
      }
    });
  }

  void release(long millis, Ask ask) {
    at(millis, ask.process.number, ask::release);
  }

  /** Releases it a while after it has come. */
  void releaseWhenHeldFor(long millis, Ask ask) {
    ask.releaseAfter(millis);
  }

  void cancel(long millis, Ask ask) {
    at(millis, ask.process.number, ask::cancel);
  }

  /** The owner of a future ends it, as {@code orTimeout} does. */
  void endFuture(long millis, Ask ask) {
    at(millis, ask.process.number, ask::endFuture);
  }

  /** The holder forgets the hold, and its handle is collected as garbage. */
  void drop(long millis, Ask ask) {
    at(millis, ask.process.number, ask::drop);
  }

  /** Cancels or interrupts whoever waits, now. */
  void cancelAll() {
    asks.stream().filter(ask -> ask.process.isRunning()).forEach(Ask::cancel);
  }

  // what came of it

  /** The events of one kind, in the store's order. */
  List<Event> events(Kind kind) {
    return world.history.stream().filter(event -> event.kind() == kind).toList();
  }
}
