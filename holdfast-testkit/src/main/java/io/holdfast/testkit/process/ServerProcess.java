// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server of a test's own: a child process and what that starts itself, with a folder that stays the same when it is
 * killed and started again. It ends with {@link #close()}, and with this JVM at the latest.
 */
public final class ServerProcess implements AutoCloseable {
  private static final long CLOSE_SECONDS = 10;
  private static final String JAVA = "java";

  private final String name;
  private final Path program;
  private final Path folder;
  private @Nullable Process process;
  private String closingSignal = "KILL";

  private ServerProcess(String name, Path program, Path folder) {
    this.name = name;
    this.program = program;
    this.folder = folder;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close));
  }

  /**
   * Finds a server's program, and makes a folder for it; starts nothing yet. The program is what the environment
   * variable {@code HOLDFAST_NAME} names, with the name in capitals and {@code _} for {@code -}; if it is not set, what {@code
   * dev/servers} has fetched; else what is in {@code PATH}, unless it is older than what is supported. Without one that is of use, as {@link ServerPrograms} says, the
   * test is not run; with {@code -Dholdfast.stores=required} it fails.
   *
   * @param name the program, for example {@code redis-server}
   * @return a server that does not run yet
   */
  public static ServerProcess of(String name) {
    return running(name, ServerPrograms.get(name));
  }

  /**
   * Takes the Java of this JVM for a server's program, and makes a folder for it; starts nothing yet.
   *
   * @return a server that does not run yet
   */
  public static ServerProcess java() {
    // we are run by it
    ServerPrograms.noteAnswer(JAVA);
    return running(JAVA, Path.of(System.getProperty("java.home"), "bin", JAVA));
  }

  private static ServerProcess running(String name, Path program) {
    try {
      return new ServerProcess(name, program, Files.createTempDirectory("holdfast-server"));
    } catch (IOException e) {
      throw new UncheckedIOException("no folder for the server", e);
    }
  }

  /**
   * Says whether {@link #of} would find the program.
   *
   * @param name the program, for example {@code redis-server}
   * @return whether it is there, and of use as far as its version tells
   */
  public static boolean isThere(String name) {
    return ServerPrograms.isThere(name);
  }

  /**
   * Returns a port of this machine that nobody listens on, and that nobody else is given as long as this JVM lives.
   *
   * @return the port
   */
  public static int freePort() {
    try {
      return Ports.next();
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
  }

  /**
   * Returns the server's folder, which is removed by {@link #close()}.
   *
   * @return the folder
   */
  public Path folder() {
    return folder;
  }

  /**
   * Starts the process; does not wait until it answers. What it says goes to the file {@code log} in its folder.
   *
   * @param arguments the arguments of the program
   */
  public void start(List<String> arguments) {
    start(arguments, Map.of());
  }

  /**
   * As {@link #start(List)}, with more in its environment than we have.
   *
   * @param arguments the arguments of the program
   * @param environment what is added
   */
  public void start(List<String> arguments, Map<String, String> environment) {
    start(List.of(), arguments, environment);
  }

  /**
   * As {@link #start(List)}, with a disk that only the process has.
   *
   * @param arguments the arguments of the program
   * @param disk the disk, empty
   */
  public void start(List<String> arguments, SmallDisk disk) {
    start(disk.before(), arguments, Map.of());
  }

  private void start(List<String> before, List<String> arguments, Map<String, String> environment) {
    List<String> command = new ArrayList<>(before);
    command.add(program.toString());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()));
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw ServerPrograms.failed(name, "does not start", String.valueOf(e.getMessage()));
    }
  }

  /**
   * Waits until the server that was started answers, for {@link Await#PATIENCE} at most. One that does not is killed.
   *
   * @param answers says whether it does; asked again and again
   * @throws org.opentest4j.TestAbortedException if the process has ended or does not answer in time, and the program has not
   *     worked in this JVM before
   * @throws AssertionError in the same cases if the program has worked before, or all stores are required
   */
  public void awaitAnswer(BooleanSupplier answers) {
    boolean answered = false;
    try {
      Await.until(name + " answers", () -> !isRunning() || answers.getAsBoolean());
      answered = isRunning();
    } catch (AssertionError e) {
      throw ServerPrograms.failed(name, "does not answer", log());
    } finally {
      if (!answered) {
        kill();
      }
    }
    if (!answered) {
      throw ServerPrograms.failed(name, "has ended", log());
    }
    ServerPrograms.noteAnswer(name);
  }

  /**
   * Says whether the process has been started and has not ended, by itself or otherwise.
   *
   * @return whether it runs; a paused one does
   */
  public boolean isRunning() {
    Process running = process;
    return running != null && running.isAlive();
  }

  /**
   * Returns what the process has said, since its first start.
   *
   * @return the content of the file {@code log} in its folder
   */
  public String log() {
    try {
      // in whatever language and encoding
      return new String(Files.readAllBytes(folder.resolve("log")), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("the server's log cannot be read", e);
    }
  }

  /**
   * Has {@link #close()} ask the process to end, and kill it only if it does not. For servers that leave something on the
   * machine when they are killed, like shared memory.
   *
   * @param signal the name of the signal that asks, for example {@code TERM}
   */
  public void closeWith(String signal) {
    closingSignal = signal;
  }

  /** Returns the number of the process that was started last. */
  long pid() {
    return running().pid();
  }

  /** Ends the process, and what it has started, as {@code kill -9} does: nothing is flushed, nobody is told. */
  public void kill() {
    Process running = process;
    if (running != null) {
      List<ProcessHandle> started = List.of();
      if (running.children().findAny().isPresent()) {
        // stopped, it starts no more of them
        signal("STOP", List.of(running.toHandle()));
        started = running.descendants().toList();
      }
      running.destroyForcibly().onExit().join();
      started.forEach(ProcessHandle::destroyForcibly);
      for (ProcessHandle each : started) {
        Await.until("process " + each.pid() + " has ended", () -> hasEnded(each));
      }
      process = null;
    }
  }

  /**
   * Says whether a process has ended. Whoever inherits it may take his time to notice its end: what counts is that it holds
   * nothing any more.
   *
   * @param each the process, ours or not
   * @return whether it is gone, or waits only for being noticed
   */
  public static boolean hasEnded(ProcessHandle each) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(each.pid()), "stat"));
      char state = stat.charAt(stat.lastIndexOf(')') + 2);
      return state == 'Z' || state == 'X';
    } catch (IOException e) {
      // it is gone, or this system has no such files
      return !each.isAlive();
    }
  }

  /**
   * Stops the process, and what it has started, as SIGSTOP does: its connections stay, and nothing is answered.
   */
  public void pause() {
    Process running = running();
    // first of all the one that starts the others
    assertTrue(signal("STOP", List.of(running.toHandle())), "kill -STOP");
    List<ProcessHandle> started = running.descendants().toList();
    signal("STOP", started);
    // each thread stops when it next comes by: one that runs may answer until then
    Await.until(
        "process " + running.pid() + " has stopped",
        () ->
            hasStopped(running.toHandle()) && started.stream().allMatch(ServerProcess::hasStopped));
  }

  /** Says whether all threads have stopped; yes where nobody tells. */
  private static boolean hasStopped(ProcessHandle each) {
    Path threads = Path.of("/proc", Long.toString(each.pid()), "task");
    if (!Files.isDirectory(threads)) {
      return true;
    }
    try (Stream<Path> all = Files.list(threads)) {
      return all.allMatch(thread -> isStopped(thread.resolve("stat")));
    } catch (IOException e) {
      // it has ended meanwhile, which is as silent
      return !Files.isDirectory(threads);
    }
  }

  private static boolean isStopped(Path stat) {
    try {
      String line = Files.readString(stat);
      // the state follows the name, which is in brackets and may hold anything
      return "TtZX".indexOf(line.charAt(line.lastIndexOf(')') + 2)) >= 0;
    } catch (IOException e) {
      // this thread has ended meanwhile
      return true;
    }
  }

  /** Lets a paused process go on. */
  public void resume() {
    Process running = running();
    signal("CONT", running.descendants().toList());
    assertTrue(signal("CONT", List.of(running.toHandle())), "kill -CONT");
  }

  private Process running() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("the server does not run");
    }
    return running;
  }

  private static boolean signal(String name, List<ProcessHandle> to) {
    return to.isEmpty()
        || Signals.send(name, to.stream().map(ProcessHandle::pid).toList());
  }

  /** Ends the process, and removes the folder. */
  @Override
  public void close() {
    if (isRunning() && !closingSignal.equals("KILL")) {
      resume();
      signal(closingSignal, List.of(running().toHandle()));
      try {
        running().onExit().get(CLOSE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        // it is killed then
      }
    }
    kill();
    try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the server's folder could not be removed", e);
    }
  }
}
