// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Processes with clients of one SQLite file, for tests that end them. */
abstract class SqliteDeathCases {
  static final long MUCH_WORK_SECONDS = 120;

  @TempDir
  Path folder;

  private final List<Process> processes = new ArrayList<>();
  private int started;

  Path file() {
    return folder.resolve("locks.db");
  }

  Process holder(String... what) throws Exception {
    return holderOf("sqlite:" + file(), what);
  }

  /** Starts a process, and waits until it has done what it is to do. */
  Process holderOf(String address, String... what) throws Exception {
    return holderBehind(List.of(), address, what);
  }

  /** As {@link #holderOf}, behind a command that becomes it. */
  Process holderBehind(List<String> before, String address, String... what) throws Exception {
    Path done = folder.resolve("done-" + started++);
    List<String> line = new ArrayList<>(before);
    line.addAll(JavaProgram.commandLine(128, SqliteHolder.class, address, done.toString()));
    Collections.addAll(line, what);
    Path log = folder.resolve("log-" + started);
    Process process = new ProcessBuilder(line)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
    processes.add(process);
    Patience.until(MUCH_WORK_SECONDS, () -> Files.exists(done) || !process.isAlive());
    assertThat(done).as(Files.readString(log)).exists();
    return process;
  }

  String said() throws IOException {
    return Files.readString(folder.resolve("done-" + (started - 1)));
  }

  static void kill(Process process) throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
  }

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      kill(process);
    }
  }

  /** The files of clients, and of commands that they run. */
  List<String> beside() {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.endsWith(".client") || name.endsWith(".work"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
