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

  private static final Duration ORPHAN_LOOK = Duration.ofMillis(100);

  private final Path folder;
  private final RandomAccessFile start;
  private final RandomAccessFile orders;
  private final Messages messages;
  private @Nullable Process process;

  private Supervisor(
      Path folder, RandomAccessFile start, RandomAccessFile orders, Messages messages) {
    this.messages = messages;
    this.folder = folder;
    this.start = start;
    this.orders = orders;
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
      try (InputStream script = Supervisor.class.getResourceAsStream("supervise.sh")) {
        Files.copy(Objects.requireNonNull(script, "supervise.sh"), folder.resolve("supervise.sh"));
      }
      makePipes(folder);
      // Both ways: opening does not wait for the other side, and the other side sees us before it looks.
      return new Supervisor(
          folder,
          new RandomAccessFile(folder.resolve("start").toFile(), "rw"),
          new RandomAccessFile(folder.resolve("orders").toFile(), "rw"),
          messages);
    } catch (IOException e) {
      if (folder != null) {
        remove(folder);
      }
      throw new CliException(
          Exit.CANNOT_CREATE,
          "cannot prepare to run the command in " + System.getProperty("java.io.tmpdir") + ": "
              + e.getMessage() + "; set TMPDIR to a folder that can be written",
          e);
    }
  }

  private static void makePipes(Path folder) throws IOException {
    Process mkfifo = new ProcessBuilder(
            "mkfifo",
            "-m",
            "600",
            folder.resolve("start").toString(),
            folder.resolve("orders").toString(),
            folder.resolve("go").toString())
        .redirectErrorStream(true)
        .start();
    String said = new String(mkfifo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean interrupted = false;
    while (true) {
      try {
        if (mkfifo.waitFor() != 0) {
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
   * Starts the command.
   *
   * @param command the command and its arguments
   * @param lockName for {@code HOLDFAST_LOCK}
   * @param token for {@code HOLDFAST_TOKEN}
   * @param graceIfWeDie how long the group has between SIGTERM and SIGKILL if we are killed
   * @param eager whether the command gets the terminal at once
   * @param workFile what the watcher removes if holdfast dies, once the command has ended; empty for none
   */
  void start(
      List<String> command,
      String lockName,
      long token,
      Duration graceIfWeDie,
      boolean eager,
      Optional<Path> workFile)
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
    start.write((token + "\n").getBytes(StandardCharsets.US_ASCII));
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
  public void order(Sig signal) {
    write(signal.name());
  }

  /**
   * Waits for the command. If somebody kills the supervisor, the command goes on without it: then we go on too, because
   * nobody else may have the lock meanwhile; only the command's own status is lost.
   */
  @Override
  public int waitFor() throws InterruptedException {
    int status = Objects.requireNonNull(process, "not started").waitFor();
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
      if (process == null) {
        remove(folder);
      } else {
        // The watcher, which may not have come to read its script yet, removes the folder.
        write("done");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(String order) {
    try {
      orders.write((order + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path folder) {
    for (String name : List.of("start", "orders", "go", "command", "supervise.sh", "")) {
      try {
        Files.deleteIfExists(folder.resolve(name));
      } catch (IOException e) {
        System.getLogger("io.holdfast.cli")
            .log(System.Logger.Level.DEBUG, "cannot remove " + folder, e);
      }
    }
  }
}
