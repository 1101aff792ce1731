// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Our side of {@code supervise.sh}, which says what it does and why. Made before the lock is asked for, so that a machine
 * without room or without a shell is noticed in time; started when the lock is ours.
 */
final class Supervisor implements Child {
  private static final List<Path> BASH =
      List.of(Path.of("/bin/bash"), Path.of("/usr/bin/bash"), Path.of("/usr/local/bin/bash"));

  private static final List<String> PIPES = List.of("start", "orders", "go", "watcher");

  /** How long a busy machine may take to end a command that has not begun. */
  private static final Duration UNBEGUN = Duration.ofSeconds(10);

  /** How long the watcher may take to read that it is no longer needed. */
  private static final Duration WATCHER_END = Duration.ofSeconds(1);

  private static final Duration ORPHAN_LOOK = Duration.ofMillis(100);

  private final Path folder;
  private final String script;
  private final RandomAccessFile start;
  private final RandomAccessFile orders;
  private final Watcher watcher;
  private final Messages messages;
  private @Nullable Process process;

  /** Set once the command has been sent SIGKILL. */
  private volatile boolean killed;

  private boolean repeated;

  /** What {@link #endBy} has told last. */
  private long end = Long.MAX_VALUE;

  private boolean begun;

  private Supervisor(
      Path folder,
      String script,
      RandomAccessFile start,
      RandomAccessFile orders,
      Watcher watcher,
      Messages messages) {
    this.messages = messages;
    this.folder = folder;
    this.script = script;
    this.start = start;
    this.orders = orders;
    this.watcher = watcher;
  }

  /**
   * Makes the folder with the script and the pipes.
   *
   * @throws CliException if the temporary folder cannot be used
   */
  static Supervisor prepare(Messages messages) {
    Path folder = null;
    try {
      folder = Files.createTempDirectory("holdfast");
      String script = script();
      Files.writeString(folder.resolve("supervise.sh"), script);
      makePipes(folder);
      // Both ways: opening does not wait for the other side, and the other side sees us before it looks.
      return new Supervisor(
          folder,
          script,
          new RandomAccessFile(folder.resolve("start").toFile(), "rw"),
          new RandomAccessFile(folder.resolve("orders").toFile(), "rw"),
          Watcher.at(folder.resolve("watcher")),
          messages);
    } catch (IOException e) {
      if (folder != null) {
        remove(folder);
      }
      throw new CliException(
          Exit.CANNOT_CREATE,
          "cannot prepare to run the command in " + System.getProperty("java.io.tmpdir") + ": "
              + FileFailures.reasonToCreate(e) + "; set TMPDIR to a folder that can be written",
          e);
    }
  }

  private static String script() throws IOException {
    try (InputStream script = Supervisor.class.getResourceAsStream("supervise.sh")) {
      return new String(
          Objects.requireNonNull(script, "supervise.sh").readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void makePipes(Path folder) throws IOException {
    List<String> mkfifo = new ArrayList<>(List.of("mkfifo", "-m", "600"));
    PIPES.forEach(name -> mkfifo.add(folder.resolve(name).toString()));
    run(mkfifo);
  }

  /** Runs a program that ends at once; an interrupt has to wait for that. */
  private static void run(List<String> line) throws IOException {
    Process program = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean interrupted = false;
    while (true) {
      try {
        if (program.waitFor() != 0) {
          throw new IOException(Failures.oneLine(said));
        }
        return;
      } catch (InterruptedException e) {
        interrupted = true;
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /**
   * Starts what will be the command: it tells when it is ready, and waits for {@link #begin}.
   *
   * @param command the command and its arguments
   * @param lockName for {@code HOLDFAST_LOCK}
   * @param graceIfWeDie how long the group has between SIGTERM and SIGKILL if we are killed
   * @param eager whether the command gets the terminal at once
   * @param workFile what the watcher removes if holdfast dies, once the command has ended; empty for none
   * @param whenReady called on another thread
   */
  void start(
      List<String> command,
      String lockName,
      Duration graceIfWeDie,
      boolean eager,
      Optional<Path> workFile,
      Runnable whenReady)
      throws IOException {
    List<String> line = new ArrayList<>(shell());
    line.add(folder.resolve("supervise.sh").toString());
    line.add("job");
    line.add(folder.toString());
    line.add(Long.toString(Math.max(1, graceIfWeDie.toMillis() / 100)));
    line.add(eager ? "yes" : "no");
    line.add(workFile.map(Path::toString).orElse(""));
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
    Map<String, String> environment = builder.environment();
    environment.put("HOLDFAST_LOCK", lockName);
    environment.remove("HOLDFAST_TOKEN");
    // an exported one would take the supervisor's own settings to every bash of the command
    environment.remove("SHELLOPTS");
    process = builder.start();
    watcher.listen(whenReady, this::watcherIsGone);
  }

  @Override
  public void begin(long token) {
    begun = true;
    write(start, Long.toString(token));
  }

  /** bash where there is one, because it can make a process group without taking the terminal. */
  private static List<String> shell() {
    String given = System.getProperty("holdfast.shell");
    if (given != null) {
      return List.of(given);
    }
    for (Path bash : BASH) {
      if (Files.isExecutable(bash)) {
        // -p: whatever the environment says to bashes, this one does not listen; it passes it on.
        return List.of(bash.toString(), "-p");
      }
    }
    return List.of("sh");
  }

  @Override
  public void endBy(long tenths) {
    // a tenth more is what rounding makes of the same end
    boolean isNews = tenths < end || tenths - end > 1;
    if (isNews && !watcher.isAsked() && !watcher.isGone()) {
      end = tenths;
      watcher.ask();
      write(orders, "until " + tenths);
    }
  }

  /**
   * Sends a signal to the group. The watcher does that; if it was killed, or if a SIGKILL is ordered once more because the
   * first one has had no effect, we do it.
   */
  @Override
  public void order(Sig signal) {
    boolean again = signal == Sig.KILL && killed;
    if (signal == Sig.KILL) {
      killed = true;
    }
    // In this order: a SIGKILL that the watcher has not read before its end is repeated when that is seen.
    if (!again && !watcher.isGone()) {
      write(orders, signal.name());
    }
    if (again && !repeated && watcher.group().filter(Watcher.Group::isThere).isPresent()) {
      repeated = true;
      messages.error(
          "the command has not ended since it was sent SIGKILL; holdfast now sends SIGKILL itself");
    }
    if (again || watcher.isGone()) {
      passOn(signal);
    }
  }

  private void watcherIsGone(Watcher.Group group) {
    messages.error(
        "the watcher of the command was killed; holdfast now sends signals to the command"
            + " (process " + group.leader().pid()
            + ") itself, but if holdfast is killed too, no process ends the command");
    if (killed) {
      passOn(Sig.KILL);
    }
  }

  /** Does what the watcher does with a signal; the script's own text, because its file may have been removed. */
  private void passOn(Sig signal) {
    Optional<Watcher.Group> group = watcher.group().filter(Watcher.Group::isThere);
    if (group.isEmpty()) {
      return;
    }
    try {
      List<String> line = new ArrayList<>(shell());
      line.addAll(List.of("-c", script, "supervise.sh", "pass", signal.name()));
      line.addAll(List.of(Long.toString(group.get().leader().pid()), group.get().stop()));
      // its number may be another process's, which must not be continued
      String alive = supervisor().isAlive() ? Long.toString(supervisor().pid()) : "";
      line.addAll(List.of(folder.toString(), alive));
      run(line);
    } catch (IOException e) {
      // repeated if it was SIGKILL, unless the command has ended meanwhile
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.WARNING, "cannot send SIG" + signal + " to the command", e);
    }
  }

  private Process supervisor() {
    return Objects.requireNonNull(process, "not started");
  }

  /**
   * Waits for the command. If somebody kills the supervisor, the command goes on without it: then we go on too, because
   * nobody else may have the lock meanwhile; only the command's own status is lost.
   */
  @Override
  public int waitFor() throws InterruptedException {
    int status = supervisor().waitFor();
    Optional<Long> orphan = orphan();
    if (orphan.isPresent()) {
      messages.error("the supervisor of the command was killed; the command (process "
          + orphan.get() + ") goes on, but its exit status will not be known");
      CountDownLatch never = new CountDownLatch(1);
      while (ProcessState.isAlive(orphan.get())) {
        if (never.await(ORPHAN_LOOK.toNanos(), TimeUnit.NANOSECONDS)) {
          return status;
        }
      }
    }
    // so that the watcher, should we be killed now, signals no other group that has the number by then
    write(orders, "ended");
    return status;
  }

  /** The number of the command, if its supervisor was killed before it could see how the command ended. */
  private Optional<Long> orphan() {
    try {
      String number = Files.readString(folder.resolve("command")).strip();
      return number.isEmpty() ? Optional.empty() : Optional.of(Long.valueOf(number));
    } catch (NoSuchFileException e) {
      // it had not come that far; or it was no process of its own, and we have waited for the command itself
      return Optional.empty();
    } catch (IOException | NumberFormatException e) {
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.WARNING, "cannot tell whether the command has ended", e);
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    try (start;
        orders) {
      watcher.close();
      if (process != null && !begun) {
        // It has been killed; until its end it may still have to read its script.
        process.waitFor(UNBEGUN.toNanos(), TimeUnit.NANOSECONDS);
      }
      if (process == null || watcher.isGone()) {
        remove(folder);
      } else {
        // The watcher, which may not have come to read its script yet, removes the folder.
        write(orders, "done");
        if (watcher.ends(WATCHER_END)) {
          // it may have ended before, or never begun
          remove(folder);
        } else {
          endWatcher();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Kills a watcher that has not ended. What it has not read yet are orders for a number that another group may have by the
   * time at which it goes on.
   */
  private void endWatcher() throws InterruptedException {
    if (killed) {
      passOn(Sig.KILL);
    }
    watcher.kill();
    if (watcher.ends(WATCHER_END)) {
      remove(folder);
    }
  }

  private static void write(RandomAccessFile pipe, String line) {
    try {
      pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path folder) {
    List<String> names = new ArrayList<>(PIPES);
    names.addAll(List.of("command", "stopped", "supervise.sh", ""));
    for (String name : names) {
      try {
        Files.deleteIfExists(folder.resolve(name));
      } catch (IOException e) {
        System.getLogger("io.holdfast.cli")
            .log(System.Logger.Level.DEBUG, "cannot remove " + folder, e);
      }
    }
  }
}
