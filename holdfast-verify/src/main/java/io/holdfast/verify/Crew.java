// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The workers, each a process of its own: started, stopped, killed, and replaced. What they say, and what is done to them,
 * goes into the record, and their writes to the resources.
 */
final class Crew implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final long END_SECONDS = 20;
  private static final int OTHERS_ONE_IN = 4;
  private static final long READ_MILLIS = 5_000;

  /** Stops a process until its own input ends: so it goes on even if we are killed meanwhile. */
  private static final String STOPPER =
      "trap '' INT HUP TERM; kill -STOP \"$0\" || exit 1; echo stopped; read end; kill -CONT \"$0\"";

  private final VerifySettings settings;
  private final Journal journal;
  private final Resources resources;
  private final List<String> locks;
  private final SplittableRandom random;
  private final Ticker ticker = Ticker.system();

  /** Guards the members, and whether more may come: a hook of the JVM's may end them while they are started. */
  private final ReentrantLock guard = new ReentrantLock();

  private final List<Member> members = new ArrayList<>();
  private boolean closed;

  /** One life of a worker. */
  private static final class Member {
    final int slot;
    final int life;
    final String name;
    final Process process;
    final PrintStream orders;
    volatile boolean over;

    /** What stopped it, and lets it go on as soon as nobody speaks to it any more; none while it runs. */
    @Nullable
    Process stopper;

    @Nullable
    Thread reader;

    Member(int slot, int life, Process process) {
      this.slot = slot;
      this.life = life;
      this.name = slot + "." + life;
      this.process = process;
      orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }
  }

  Crew(
      VerifySettings settings,
      Journal journal,
      Resources resources,
      List<String> locks,
      SplittableRandom random) {
    this.settings = settings;
    this.journal = journal;
    this.resources = resources;
    this.locks = List.copyOf(locks);
    this.random = random;
  }

  /**
   * Starts all workers, and waits until each has connected.
   *
   * @throws IOException if a process cannot be started, or ends before it has begun
   */
  void start() throws IOException, InterruptedException {
    List<Member> started = new ArrayList<>();
    for (int slot = 0; slot < settings.clients(); slot++) {
      started.add(start(slot, 0));
    }
    for (Member each : started) {
      if (!journal.await(What.STARTED, each.name, TimeUnit.SECONDS.toNanos(START_SECONDS))) {
        throw new IOException(
            "a worker did not begin; its own words, if any, are above (is the driver there?)");
      }
    }
  }

  /** Starts a worker, in the place of the one that had the slot before. */
  private Member start(int slot, int life) throws IOException {
    guard.lock();
    try {
      if (closed) {
        throw new IOException("the run is being ended");
      }
      Member member = startProcess(slot, life);
      if (slot < members.size()) {
        members.set(slot, member);
      } else {
        members.add(member);
      }
      return member;
    } finally {
      guard.unlock();
    }
  }

  private Member startProcess(int slot, int life) throws IOException {
    List<String> command = new ArrayList<>(settings.java());
    command.add(Worker.class.getName());
    command.add(slot + "." + life);
    command.add(settings.protocol().name());
    command.add(Long.toString(settings.lease().toMillis()));
    command.add(Long.toString(random.nextLong()));
    command.addAll(locks);
    Process process = new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
    Member member = new Member(slot, life, process);
    // not in its arguments, which every user of the machine can read
    member.orders.println(settings.uri());
    Thread reader = new Thread(() -> read(member), "holdfast-verify-" + member.name);
    reader.setDaemon(true);
    member.reader = reader;
    reader.start();
    return member;
  }

  private void read(Member member) {
    String why = "it ended by itself";
    try (BufferedReader in = new BufferedReader(
        new InputStreamReader(member.process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith(Orders.WRITE)) {
          member.orders.println(Orders.ANSWER + write(member, line.split("\t", -1)));
        } else {
          journal.add(Fact.ofLine(line));
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // a process that is killed leaves half a line
      why = String.valueOf(e);
    }
    if (!member.over) {
      journal.add(Fact.of(What.DIED, ticker.nanos(), member.name, why));
    }
  }

  private boolean write(Member member, String[] fields) {
    if (fields.length != Orders.WRITE_FIELDS) {
      throw new IllegalArgumentException("not a write");
    }
    return resources.write(
        member.name, fields[1], Long.parseLong(fields[2]), Long.parseLong(fields[3]));
  }

  /** Picks somebody who runs; mostly one that has a lock, since the others are hit without much effect. */
  private Optional<Member> any(int atLeast) {
    List<Member> running = members.stream()
        .filter(each -> each.stopper == null && each.process.isAlive())
        .toList();
    if (running.size() < atLeast) {
      return Optional.empty();
    }
    List<String> holders = journal.holders();
    List<Member> holding =
        running.stream().filter(each -> holders.contains(each.name)).toList();
    List<Member> among =
        holding.isEmpty() || random.nextInt(OTHERS_ONE_IN) == 0 ? running : holding;
    return Optional.of(among.get(random.nextInt(among.size())));
  }

  /** Stops a worker where it is, as a long collection of garbage does; it goes on with {@link #resume()}. */
  void pause() throws IOException {
    Optional<Member> chosen = any(2);
    if (chosen.isEmpty()) {
      return;
    }
    Member member = chosen.get();
    Process stopper = new ProcessBuilder("sh", "-c", STOPPER, Long.toString(member.process.pid()))
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
    // it says so, or ends because there is nobody to stop
    if (stopper.getInputStream().read() >= 0) {
      member.stopper = stopper;
      journal.add(Fact.of(What.PAUSED, ticker.nanos(), member.name, ""));
    } else if (member.process.isAlive()) {
      throw new IOException("a process could not be stopped with kill -STOP");
    }
  }

  /** Lets all that are stopped go on. */
  void resume() throws IOException, InterruptedException {
    for (Member each : members) {
      Process stopper = each.stopper;
      if (stopper != null) {
        each.stopper = null;
        journal.add(Fact.of(What.RESUMED, ticker.nanos(), each.name, ""));
        stopper.getOutputStream().close();
        stopper.waitFor();
      }
    }
  }

  /** Kills a worker, and puts another one in its place. */
  void kill() throws IOException, InterruptedException {
    Optional<Member> chosen = any(1);
    if (chosen.isEmpty()) {
      return;
    }
    Member member = chosen.get();
    member.over = true;
    // not by the Process itself, which would throw away what it has said
    boolean unused = member.process.toHandle().destroyForcibly();
    member.process.waitFor();
    readOut(member);
    journal.add(Fact.of(What.KILLED, ticker.nanos(), member.name, ""));
    start(member.slot, member.life + 1);
  }

  /** Waits until all that a process has said before its end is in the record. */
  private static void readOut(Member member) throws InterruptedException {
    Thread reader = member.reader;
    if (reader != null) {
      reader.join(READ_MILLIS);
    }
  }

  /** Tells all to take each lock once more, and to end; waits for that. */
  void drain(Duration within) throws InterruptedException {
    List<Member> alive = members.stream().filter(each -> each.process.isAlive()).toList();
    for (Member each : alive) {
      each.over = true;
      each.orders.println(Orders.DRAIN + within.toMillis());
    }
    long by =
        ticker.nanos() + within.toNanos() * locks.size() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    for (Member each : alive) {
      if (!each.process.waitFor(Math.max(0, by - ticker.nanos()), TimeUnit.NANOSECONDS)) {
        journal.add(Fact.of(What.DIED, ticker.nanos(), each.name, "it did not end in time"));
      } else {
        readOut(each);
        int code = each.process.exitValue();
        if (code != 0) {
          journal.add(Fact.of(What.DIED, ticker.nanos(), each.name, "it ended with " + code));
        }
      }
    }
  }

  /** Kills what is left, and lets none come; what it has said until then is in the record, unless this thread is interrupted. */
  void end() {
    List<Member> last;
    guard.lock();
    try {
      closed = true;
      last = List.copyOf(members);
    } finally {
      guard.unlock();
    }
    for (Member each : last) {
      each.over = true;
      // as in kill()
      boolean unused = each.process.toHandle().destroyForcibly();
      Process stopper = each.stopper;
      if (stopper != null) {
        stopper.destroyForcibly();
      }
    }
    try {
      for (Member each : last) {
        readOut(each);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end();
  }
}
