// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A disk that is full or may not be written: a small one of the test's own, in a mount namespace (Linux). */
@Tag("all")
class DiskTest {
  @RegisterExtension
  final Processes processes = new Processes();

  @BeforeEach
  void needsADisk() throws IOException {
    Files.createDirectories(processes.file("disk"));
    Needs.that(
        System.getProperty("os.name").equals("Linux")
            && onDisk("size=64k", "true").exitCode() == 0,
        "a full disk is not tested: no mount namespaces (unshare -rm)");
  }

  @Test
  void run_diskIsFull_saysSoAndRunsNothing() {
    Job job = onDisk("size=8k", "\"$@\" run lock touch ran");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(Exit.UNAVAILABLE);
    assertThat(job.stderr()).startsWith("holdfast: ").contains("full").hasLineCount(1);
    assertThat(processes.file("ran")).doesNotExist();
  }

  @Test
  void run_diskMayNotBeWritten_saysSoAndRunsNothing() {
    Job job = onDisk("ro", "\"$@\" run lock touch ran");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(Exit.REFUSED);
    assertThat(job.stderr())
        .startsWith("holdfast: ")
        .containsOnlyOnce("disk/locks.db")
        .contains("Read-only", "choose another place")
        .hasLineCount(1);
    assertThat(processes.file("ran")).doesNotExist();
  }

  /** The lock cannot be renewed any more: its command ends before the lease does, and nothing is lost for the next one. */
  @Test
  void run_diskFillsUpMeanwhile_endsTheCommandInTime() {
    Job job = onDisk(
        "size=1m",
        "\"$@\" run --lease 9s lock sh -c 'cat /dev/zero >disk/filler; echo full; exec sleep 600'",
        "echo status=$?",
        "rm disk/filler",
        "\"$@\" run -w 30s lock echo again");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).isEqualTo("full\nstatus=76\nagain\n");
  }

  /** Runs lines of a shell script in which {@code "$@"} is holdfast and the store is on the disk. */
  private Job onDisk(String options, String... script) {
    List<String> lines = new ArrayList<>();
    lines.add("mount -t tmpfs -o " + options + " none disk");
    lines.addAll(List.of(script));
    List<String> line =
        new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", String.join("\n", lines), "sh"));
    line.addAll(processes.holdfastLine(List.of()));
    return processes.start(
        Map.of("HOLDFAST_STORE", "sqlite:" + processes.file("disk/locks.db")), line);
  }
}
