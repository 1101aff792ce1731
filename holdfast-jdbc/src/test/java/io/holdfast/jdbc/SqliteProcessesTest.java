// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several processes on one file. */
class SqliteProcessesTest {
  private static final int ROUNDS = 150;

  @TempDir
  private Path folder;

  private Process worker(String mode, boolean fair) throws IOException {
    return start(
        SqliteWorker.class,
        folder.resolve("locks.db").toString(),
        folder.resolve("counter").toString(),
        mode,
        Integer.toString(ROUNDS),
        Boolean.toString(fair));
  }

  private Process start(Class<?> program, String... arguments) throws IOException {
    return new ProcessBuilder(JavaProgram.commandLine(64, program, arguments))
        .redirectErrorStream(true)
        .redirectOutput(folder
            .resolve(program.getSimpleName() + "-" + System.nanoTime() + ".log")
            .toFile())
        .start();
  }

  /** Each adds to a number in a plain file, which only works one at a time, and writes down its tokens. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void processes_excludeEachOther(boolean fair) throws Exception {
    List<Process> workers = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        workers.add(worker("count", fair));
      }
      for (Process worker : workers) {
        assertThat(worker.waitFor(60, TimeUnit.SECONDS)).isTrue();
      }
    } finally {
      workers.forEach(Process::destroyForcibly);
    }
    assertThat(workers)
        .allSatisfy(worker -> assertThat(worker.exitValue()).as(logs()).isZero());
    List<String> tokens = Files.readAllLines(folder.resolve("counter"));
    assertThat(tokens).hasSize(3 * ROUNDS);
    long latest = 0;
    for (String token : tokens) {
      assertThat(Long.parseLong(token)).isGreaterThan(latest);
      latest = Long.parseLong(token);
    }
  }

  /** What the first contact could not do, the next one can, in the same process. */
  @Test
  void aFolderForTheDriver_mayComeLater() throws Exception {
    Process process = start(SqliteLateFolder.class, folder.toString());
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(logs()).isZero();
    assertThat(logs()).contains("native library cannot be loaded").contains("locked");
  }

  /** Killed in the middle of whatever it was doing: the file is whole, and the lock ends with its lease. */
  @Test
  void aKilledProcess_leavesAWholeFile() throws Exception {
    for (int i = 0; i < 3; i++) {
      Process worker = worker("spin", false);
      try {
        Patience.until(() -> Files.exists(folder.resolve("counter")));
        Files.delete(folder.resolve("counter"));
      } finally {
        worker.destroyForcibly();
      }
      assertThat(worker.waitFor(20, TimeUnit.SECONDS)).isTrue();
      try (Client client = new Client(folder.resolve("locks.db")).connect()) {
        Patience.until(() -> client.attempt(client.claim("counter"), io.holdfast.spi.Mode.TRY)
            instanceof io.holdfast.spi.Answer.Granted);
        assertThat(Client.get(client.store.diagnose()))
            .noneMatch(finding -> finding.level() == io.holdfast.spi.Finding.Level.PROBLEM);
        var info = Client.get(client.store.list("", java.util.Optional.empty())).locks();
        assertThat(info).hasSize(1);
        Client.get(
            client.store.evict(client.claim("counter").name(), info.get(0).token() >> 8));
      }
    }
  }

  private String logs() {
    StringBuilder all = new StringBuilder();
    try (var files = Files.newDirectoryStream(folder, "*.log")) {
      for (Path file : files) {
        all.append(Files.readString(file));
      }
    } catch (IOException e) {
      all.append(e);
    }
    return all.toString();
  }
}
