// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.HoldState;
import io.holdfast.engine.SteppedCall;
import io.holdfast.spi.ClaimId;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A world of its own: virtual time, what is due in it, a store, a network, processes; and the history of what happened.
 * One thread; nothing in it depends on anything but its {@link Setup} and its seed.
 */
final class SimWorld {
  /** First letters of a claim's phases, and of a hold's states. */
  private static final String PHASES = "AWHEO";

  private static final String STATES = "HALR";

  final Setup setup;
  final @Nullable Flaw flaw;
  final SplittableRandom random;
  final SimNetwork network;
  final SimServer server;
  final List<SimProcess> processes = new ArrayList<>();
  final List<Event> history = new ArrayList<>(4_096);
  final Tally<Fault> faults = new Tally<>(Fault.class);
  final long[] claimMoves = new long[PHASES.length() * PHASES.length()];
  final long[] holdMoves = new long[STATES.length() * STATES.length()];

  /** Told of every message, when a person looks; null in the mass of runs. */
  @Nullable
  Consumer<String> trace;

  long now;
  long operations;
  long grants;
  long steps;

  private final SimQueue queue = new SimQueue();
  private final Map<String, SimProcess> clients = new HashMap<>();
  private final Map<ClaimId, String> names = new HashMap<>();
  /** What scripts have dropped: it is garbage when they say so, not when the collector comes. */
  private final List<SimHold> dropped = new ArrayList<>();

  private boolean quiet;
  private boolean over;
  private long requests;

  SimWorld(Setup setup, @Nullable Flaw flaw, SplittableRandom random, @Nullable Fates fates) {
    this.setup = setup;
    this.flaw = flaw;
    this.random = random;
    this.network =
        new SimNetwork(this, fates == null ? new RandomFates(this, random.split()) : fates);
    this.server = new SimServer(this);
  }

  // time

  void add(SimTask task) {
    queue.add(task);
  }

  /** Runs something in no process in particular. */
  void after(long nanos, Runnable work) {
    queue.add(new SimTask(now + nanos, null, 0, work));
  }

  /** Runs what is due next; false if nothing is. */
  boolean step() {
    SimTask task = queue.poll();
    if (task == null) {
      return false;
    }
    Runnable work = java.util.Objects.requireNonNull(task.work);
    now = Math.max(now, task.due);
    steps++;
    SimProcess process = task.process;
    if (process == null) {
      work.run();
    } else {
      process.run(task, work);
    }
    return true;
  }

  // the history

  void record(
      Kind kind,
      int process,
      String lock,
      String claim,
      String by,
      long number,
      long other,
      long until) {
    if (over) {
      return;
    }
    Event event = new Event(kind, now, process, lock, claim, by, number, other, until);
    if (trace != null) {
      trace.accept(history.size() + " " + event.toJson());
    }
    history.add(event);
  }

  /** What messages do, for a person. */
  void tell(SimProcess process, Fates.Message message, long id, String what) {
    if (trace != null) {
      trace.accept(now + " process " + process.number + " " + message + " #" + id + " " + what);
    }
  }

  void count(Fault fault) {
    faults.add(fault, 1);
  }

  void claimMoved(char from, char to) {
    claimMoves[index(PHASES, from, to)]++;
  }

  private static int index(String all, char from, char to) {
    return all.indexOf(from) * all.length() + all.indexOf(to);
  }

  void holdMoved(HoldState from, HoldState to) {
    holdMoves[index(STATES, from.name().charAt(0), to.name().charAt(0))]++;
  }

  void keepAlive(SimHold hold) {
    dropped.add(hold);
  }

  long nextRequest() {
    return ++requests;
  }

  /** Remembers whose client it is. */
  void knows(String client, SimProcess process) {
    clients.put(client, process);
  }

  /** A claim's name in the history. */
  String nameOf(ClaimId id) {
    String name = names.get(id);
    if (name == null) {
      SimProcess process = clients.get(id.client());
      name = (process == null ? "?" : Integer.toString(process.number)) + "-" + id.number();
      names.put(id, name);
    }
    return name;
  }

  /** When a lease has ended in the store, its holder must not believe in it any more. */
  void probeAt(long at, @Nullable SimProcess process, String lock, long revision) {
    if (process != null && at < Long.MAX_VALUE / 8) {
      queue.add(
          new SimTask(Math.max(now, at + 10_000), null, 0, () -> process.probe(lock, revision)));
    }
  }

  // the phases

  boolean isQuiet() {
    return quiet;
  }

  /** From here on nothing goes wrong. */
  void beQuiet() {
    quiet = true;
    processes.forEach(SimProcess::heal);
    record(Kind.QUIET, -1, "", "", "", 0, 0, 0);
  }

  /** What happened was judged. What a thread owns of a client that was never closed would stay for as long as the thread. */
  void end() {
    over = true;
    trace = null;
    for (SimProcess each : processes) {
      CompletableFuture<?> unused = SteppedCall.beginClose(each.holdfast);
    }
  }

  SimProcess start() {
    SimProcess process = new SimProcess(this, processes.size(), random.split());
    processes.add(process);
    for (int i = 0; i < setup.actors; i++) {
      SimActor actor = new SimActor(process, i, random.split());
      process.actors.add(actor);
    }
    return process;
  }
}
