// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.measure.Result;
import io.holdfast.measure.Samples;
import io.holdfast.measure.Waits;
import io.holdfast.testkit.process.ServerProcess;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast bench}, in processes of its own. */
@Tag("fast")
@Tag("stores")
@Isolated
class BenchCommandTest {
  @RegisterExtension
  final Processes processes = new Processes();

  private Job bench(String store, String... options) {
    return processes.holdfast(
        Stream.concat(Stream.of("bench", "--store", store), Arrays.stream(options))
            .toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory:", "sqlite:bench.db", "redis"})
  void everyWorkload_isPrinted(String store) {
    Job job = bench(store.equals("redis") ? RedisTopology.SINGLE.uri() : store, "--seconds", "2");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout().lines()).hasSize(6);
    assertThat(job.stdout())
        .containsPattern("(?m)^one thread, a free lock +[0-9,.]+ +\\([0-9,.]+ to [0-9,.]+\\) ")
        .containsPattern("(?m)^16 threads, one lock .* ms +0$")
        .containsPattern("(?m)^hand-over between two clients +- +[0-9.]+ ms .* ms +0$")
        .containsPattern("(?m)^entering again +[0-9,]+ ");
    assertThat(job.stderr().lines())
        .hasSize(6)
        .allMatch(line -> line.startsWith("holdfast: "))
        .contains("holdfast: hand-over between two clients");
  }

  /** The next one finds nothing of the one before; and nobody who reads JSON has to read anything else. */
  @Test
  void json_isAllThereIs_andNoLockStaysHeld() {
    Job job = bench("sqlite:json.db", "--seconds", "1", "--json", "--quiet");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stderr()).isEmpty();
    assertThat(job.stdout())
        .startsWith("{\"store\": \"sqlite:")
        .contains("\"seconds\": 1,", "\"violations\": 0,")
        .contains("{\"workload\": \"16 threads, 16 locks\", \"cyclesPerSecond\": ")
        .contains("\"waitP99Millis\": ")
        .hasLineCount(1);
    Job list = processes.holdfast("ls", "--store", "sqlite:json.db");
    assertThat(list.exitCode()).isZero();
    assertThat(list.stdout()).isEmpty();
  }

  @Test
  void nonsense_isRefused() {
    refused("--seconds must be from 1 to 3600, not 0", "--seconds", "0");
    refused("--seconds must be from 1 to 3600, not 3601", "--seconds", "3601");
    refused("--quick and --seconds exclude each other", "--seconds", "2", "--quick");
  }

  private void refused(String why, String... options) {
    Job job = bench("sqlite:refused.db", options);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains(why).hasLineCount(1);
  }

  @Test
  void storeThatIsNotThere_is69() {
    Job job = bench("redis://:secret@127.0.0.1:" + ServerProcess.freePort(), "--quick");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).doesNotContain("secret");
  }

  /** Others would feel it; and whoever measures at the same time would measure the other one. */
  @Test
  void storeOfOthers_isLeftAlone() {
    processes.use("sqlite");
    String work = processes.script("work", "echo $$ >pid", "until [ -e go ]; do sleep 0.05; done");
    Job other = processes.holdfast("run", "holdfast-bench/run", work);
    assertThat(processes.pid("pid")).isPositive();
    Job busy = processes.holdfast("bench", "--quick");
    assertThat(busy.exitCode()).as(busy::toString).isEqualTo(75);
    assertThat(busy.stderr())
        .contains("another bench measures this store; wait until it has ended");
    processes.touch("go");
    assertThat(other.exitCode()).isZero();

    String more = processes.script("more", "echo $$ >more.pid", "exec sleep 600");
    Job jobs = processes.holdfast("run", "jobs", more);
    assertThat(processes.pid("more.pid")).isPositive();
    Job asked = processes.holdfast("bench", "--quick");
    assertThat(asked.exitCode()).as(asked::toString).isEqualTo(64);
    assertThat(asked.stderr())
        .contains("the store has other locks (1 were seen)")
        .contains("--yes");
    Job sure = processes.holdfast("bench", "--seconds", "1", "--yes");
    assertThat(sure.exitCode()).as(sure::toString).isZero();
    jobs.signal("TERM");
    assertThat(jobs.exitCode()).isEqualTo(143);
  }

  /** A store that excludes cannot be made to fail; what is said then is said here. */
  @Test
  void violation_is1() {
    Result broken = new Result(
        "16 threads, one lock",
        Optional.of(new Samples(new double[] {1})),
        new Waits(),
        10,
        OptionalLong.of(3));
    assertThat(BenchCommand.say("memory:", Duration.ofSeconds(1), List.of(broken), true))
        .isEqualTo(1);
  }
}
