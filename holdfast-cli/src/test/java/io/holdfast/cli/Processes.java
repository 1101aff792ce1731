// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.Executables;
import io.holdfast.testkit.sql.SqlKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Starts {@code holdfast} as users do, in processes of its own, in a folder of the test's own; ends by its number
 * everything that is left after the test.
 */
final class Processes implements BeforeEachCallback, AfterEachCallback {
  /** SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP: as Linux numbers them, from bit 0 on. */
  private static final long TESTED_SIGNALS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 19;

  private static final boolean SIGNALS_IGNORED = signalsAreIgnored();

  private static final AtomicInteger TESTS = new AtomicInteger();

  private static final int MOST_TRIES = 20;

  /** A line of a shell that is the command: sets {@code holdfast} to the number of the parent's parent. */
  static final String HOLDFAST_OF_COMMAND =
      "read -r stat </proc/$PPID/stat; set -- ${stat##*) }; holdfast=$2";

  private final List<Job> jobs = new ArrayList<>();
  private Path folder = Path.of("set before each test");
  private String store = "set before each test";

  /** No store is named from now on, in no variable. */
  void useDefault() {
    store = "";
  }

  /** Locks are in this kind of store from now on: a {@code sqlite} file, or a server under a prefix. */
  void use(String kind) {
    store = switch (kind) {
      case "sqlite" -> "sqlite:" + folder.resolve("test.db");
      case "redis" -> RedisTopology.SINGLE.uri() + "?holdfast.prefix=" + prefix() + ":";
      default ->
        SqlKind.valueOf(kind.toUpperCase(Locale.ROOT))
            .shared()
            .storeUri("holdfast.prefix=" + prefix() + "_");
    };
  }

  private static String prefix() {
    return "test" + TESTS.incrementAndGet();
  }

  /** The address of the store of the test. */
  String store() {
    return store;
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    folder = Files.createTempDirectory("holdfast-test").toRealPath();
    Files.createDirectory(folder.resolve("tmp"));
    use("sqlite");
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    Set<ProcessHandle> left = new LinkedHashSet<>();
    for (Job job : jobs) {
      job.process().descendants().forEach(left::add);
      left.add(job.process().toHandle());
    }
    jobs.clear();
    // What a test's commands have written down, too: they may be nobody's descendants by now.
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".pid")).toList()) {
        String pid = Files.readString(file).strip();
        if (!pid.isEmpty()) {
          ProcessHandle.of(Long.parseLong(pid)).ifPresent(left::add);
        }
      }
    }
    left.forEach(ProcessHandle::destroyForcibly);
    Program.remove(folder);
  }

  Path folder() {
    return folder;
  }

  Path file(String name) {
    return folder.resolve(name);
  }

  /** {@code holdfast} with these arguments, on a store of the test's own. */
  Job holdfast(String... arguments) {
    return start(Map.of(), holdfastLine(List.of(), arguments));
  }

  Job holdfast(Map<String, String> environment, String... arguments) {
    return start(environment, holdfastLine(List.of(), arguments));
  }

  /** {@code holdfast verify} with three clients, on a store that other tests may use. */
  Job verify(String uri, String... options) {
    String[] line = Stream.concat(
            Stream.of("verify", "--store", uri, "--clients", "3", "--yes"), Arrays.stream(options))
        .toArray(String[]::new);
    return holdfast(line);
  }

  /** {@code holdfast} as before, again and again until it has ended with an answer of the store. */
  Job answered(String... arguments) {
    return answered(() -> holdfast(arguments));
  }

  /**
   * Starts something until it has ended with an answer of the store, {@value MOST_TRIES} times at most. A try has two seconds for one,
   * in a JVM that has just begun; on a machine that stands still for so long it ends with 69, which says nothing, or says
   * that the lock is busy and not whose it is.
   */
  static Job answered(Supplier<Job> tries) {
    Job job = tries.get();
    for (int i = 1; i < MOST_TRIES && saysNothing(job); i++) {
      job = tries.get();
    }
    return job;
  }

  private static boolean saysNothing(Job job) {
    return job.exitCode() == Exit.UNAVAILABLE
        || (job.exitCode() == Exit.BUSY && job.stderr().endsWith(" is busy\n"));
  }

  /**
   * Takes a lock, which has to be free now: one that is left to its lease is not.
   *
   * @param lock its name, with options before it
   */
  void assertFree(String... lock) {
    Job job = holdfast(taking(List.of("-n"), lock));
    if (job.exitCode() == Exit.UNAVAILABLE) {
      // There was no answer in time, see above; and what was asked for may now be in the way.
      job = holdfast(taking(List.of("-w", "1m"), lock));
    }
    assertThat(job.exitCode()).as(this::everything).isZero();
  }

  private static String[] taking(List<String> how, String... lock) {
    List<String> line = new ArrayList<>(List.of("run"));
    line.addAll(how);
    line.addAll(List.of(lock));
    line.add("true");
    return line.toArray(String[]::new);
  }

  /** {@code holdfast run} with one shell or the other as the supervisor. */
  Job holdfastWith(String shell, String... arguments) {
    return start(Map.of(), holdfastLine(List.of("-Dholdfast.shell=" + shell), arguments));
  }

  /** The command line that starts {@code holdfast}. */
  List<String> holdfastLine(List<String> jvmOptions, String... arguments) {
    List<String> options = new ArrayList<>(List.of("-Djava.io.tmpdir=" + folder.resolve("tmp")));
    options.addAll(jvmOptions);
    List<String> line = new ArrayList<>(Program.line(options));
    line.addAll(List.of(arguments));
    return line;
  }

  Job start(Map<String, String> environment, List<String> line) {
    Path stdout = folder.resolve("stdout." + jobs.size());
    Path stderr = folder.resolve("stderr." + jobs.size());
    ProcessBuilder builder = new ProcessBuilder(withDefaultSignals(line))
        .directory(folder.toFile())
        .redirectOutput(stdout.toFile())
        .redirectError(stderr.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
    if (!store.isEmpty()) {
      builder.environment().put("HOLDFAST_STORE", store);
    }
    builder.environment().putAll(environment);
    try {
      Job job = new Job(
          String.join(" ", line.subList(Math.max(0, line.size() - 6), line.size())),
          builder.start(),
          stdout,
          stderr);
      jobs.add(job);
      return job;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What runs in the background of a shell without job control has SIGINT and SIGQUIT ignored, what runs under nohup
   * SIGHUP, and hands that down to all it starts: how a build was started must not change what the tests see.
   */
  private static List<String> withDefaultSignals(List<String> line) {
    if (!SIGNALS_IGNORED) {
      return line;
    }
    List<String> prefixed =
        new ArrayList<>(List.of("env", "--default-signal=HUP,INT,QUIT,TERM,TSTP"));
    prefixed.addAll(line);
    return prefixed;
  }

  private static boolean signalsAreIgnored() {
    Path status = Path.of("/proc/self/status");
    try {
      return Files.exists(status)
          && Files.readAllLines(status).stream()
              .filter(line -> line.startsWith("SigIgn:"))
              .map(line ->
                  Long.parseUnsignedLong(line.substring("SigIgn:".length()).strip(), 16))
              .anyMatch(ignored -> (ignored & TESTED_SIGNALS) != 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a shell script, executable. */
  String script(String name, String... lines) {
    try {
      Path file = folder.resolve(name);
      Executables.write(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
      return file.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The script of the supervisor and the watcher. */
  static Path superviseScript() {
    Path script = Path.of("src/main/resources/io/holdfast/cli/supervise.sh").toAbsolutePath();
    assertThat(script).exists();
    return script;
  }

  /** What a piece of shell prints that has a function of {@link #superviseScript}. */
  String saidBy(String shell, String program, String function) {
    Job job = start(
        Map.of(),
        List.of(
            shell,
            "-uc",
            "eval \"$(sed -n '/^" + function + "()/,/^}/p' '" + superviseScript() + "')\"; "
                + program));
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }

  /** Makes a file appear, for a command that waits for it. */
  void touch(String name) {
    try {
      Files.writeString(folder.resolve(name), "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String read(String name) {
    try {
      Path file = folder.resolve(name);
      return Files.exists(file) ? Files.readString(file, StandardCharsets.UTF_8) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until a command has written its number into a file, and returns it. */
  long pid(String name) {
    Await.until(name, () -> read(name).endsWith("\n"), this::everything);
    return Long.parseLong(read(name).strip());
  }

  void untilGone(long pid) {
    Await.until("process " + pid + " has ended", () -> !isAlive(pid), this::everything);
  }

  /** Whether a process runs; one that has ended and was not yet collected does not. */
  static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)
        && !state(pid).equals("Z");
  }

  /** The state of a process as the kernel says it: R, S, T, Z; empty without /proc. */
  static String state(long pid) {
    return stat(pid)[0];
  }

  /** Is a process in the group that its terminal is lent to? */
  static boolean hasTerminal(long pid) {
    String[] stat = stat(pid);
    return stat.length > 5 && stat[2].equals(stat[5]);
  }

  /** What the kernel says of a process, from its state on: state, parent, group, session, terminal, foreground group. */
  private static String[] stat(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    } catch (IOException e) {
      return new String[] {""};
    }
  }

  /** Sends a signal to one process. */
  static void signal(String signal, long pid) {
    kill(signal, Long.toString(pid));
  }

  /**
   * Stops a process, but not while it writes to an SQLite file: who is stopped then keeps all others from writing for as
   * long, which is that store's limit and said in its guarantees.
   */
  void stopBetweenWrites(Job job) {
    do {
      job.signal("CONT");
      job.signal("STOP");
      Await.until("it is stopped", () -> state(job.pid()).equals("T"), this::everything);
    } while (hasWriteLock(job.pid()));
  }

  private static boolean hasWriteLock(long pid) {
    try (Stream<String> locks = Files.lines(Path.of("/proc/locks"))) {
      // that of the client's own file beside the database is on all of it
      return locks.anyMatch(line -> line.contains("POSIX")
          && line.contains(" WRITE " + pid + " ")
          && !line.endsWith(" 0 EOF"));
    } catch (IOException e) {
      // nobody says who locks what: then the test is one of chance
      return false;
    }
  }

  /**
   * Sends the second signal as soon as the first one has come, however slow the machine is: as long as it has not, a signal
   * that stops takes back one that continues, and the other way round.
   */
  static void signalInTurn(String first, String second, long pid) {
    String isComing = "grep -q 'ShdPnd:.*[1-9a-f]' /proc/" + pid + "/status";
    run(
        "sh",
        "-c",
        "kill -s " + first + " " + pid + " && while " + isComing + "; do :; done && kill -s "
            + second + " " + pid);
  }

  /** Sends a signal to a process group. */
  static void signalGroup(String signal, long group) {
    kill(signal, "-" + group);
  }

  private static void kill(String signal, String whom) {
    run("sh", "-c", "kill -s \"$0\" -- \"$1\"", signal, whom);
  }

  private static void run(String... line) {
    try {
      int status = new ProcessBuilder(line).inheritIO().start().waitFor();
      if (status != 0) {
        throw new AssertionError(String.join(" ", line) + " failed with " + status);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** All that was said, for a failure. */
  String everything() {
    StringBuilder all = new StringBuilder();
    jobs.forEach(job -> all.append(job).append('\n'));
    return all.toString();
  }
}
