// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import java.io.BufferedReader;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The processes of a run, and what becomes of them. */
class CrewTest {
  /**
   * Who starts them is killed, and can tell nobody. Even the one that is stopped ends, and what keeps it stopped. They are
   * counted while all of them have begun and none can end; from then on each is looked at by its number.
   */
  @Test
  void workers_endWithTheirMaster() throws Exception {
    Process master = Master.start();
    List<ProcessHandle> left = List.of();
    try (BufferedReader said = master.inputReader()) {
      assertThat(said.readLine()).isEqualTo(Master.READY);
      left = master.children().toList();
      assertThat(left).as("two workers, and what keeps one of them stopped").hasSize(3);
      assertThat(left).noneMatch(ServerProcess::hasEnded);
      master.destroyForcibly();
      for (ProcessHandle each : left) {
        Await.until("process " + each.pid() + " has ended", () -> ServerProcess.hasEnded(each));
      }
    } finally {
      master.destroyForcibly();
      left.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
