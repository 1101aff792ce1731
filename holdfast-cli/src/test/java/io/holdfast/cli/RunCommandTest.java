// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RunCommandTest {
  @Test
  void settings_nameAndCommand_haveTheDefaults() {
    RunSettings settings = parse("nightly", "./backup.sh");
    assertThat(settings.lockName()).isEqualTo("nightly");
    assertThat(settings.command()).containsExactly("./backup.sh");
    assertThat(settings.waitAtMost()).isEmpty();
    assertThat(settings.busyExit()).isEqualTo(75);
    assertThat(settings.killsOnLoss()).isTrue();
    assertThat(settings.options().leaseFor()).isEqualTo(Duration.ofSeconds(30));
    assertThat(settings.options().note()).isEqualTo("backup.sh");
    assertThat(settings.plan())
        .isEqualTo(new KillPlan(Duration.ofMillis(7500), Duration.ofSeconds(2)));
  }

  /** What follows the name is the command's, whatever it looks like. */
  @Test
  void settings_afterTheName_nothingIsAnOption() {
    List<String> expected = List.of("cmd", "-n", "--wait", "x", "--", "--help", "");
    assertThat(
            parse("-n", "lock", "cmd", "-n", "--wait", "x", "--", "--help", "").command())
        .isEqualTo(expected);
    assertThat(parse("-n", "lock", "--", "cmd", "-n", "--wait", "x", "--", "--help", "")
            .command())
        .isEqualTo(expected);
    assertThat(parse("-n", "--", "lock", "cmd", "-n", "--wait", "x", "--", "--help", "")
            .command())
        .isEqualTo(expected);
  }

  @Test
  void settings_allOptions_areRead() {
    RunSettings settings = parse(
        "-w",
        "5m",
        "-E",
        "0",
        "--lease",
        "10s",
        "--at-least",
        "50m",
        "--at-most",
        "2h",
        "--grace",
        "4s",
        "--fair",
        "--on-lost",
        "warn",
        "lock",
        "cmd");
    assertThat(settings.waitAtMost()).contains(Duration.ofMinutes(5));
    assertThat(settings.busyExit()).isZero();
    assertThat(settings.options().leaseFor()).isEqualTo(Duration.ofSeconds(10));
    assertThat(settings.options().holdAtLeast()).isEqualTo(Duration.ofMinutes(50));
    assertThat(settings.options().holdAtMost()).contains(Duration.ofHours(2));
    assertThat(settings.options().fair()).isTrue();
    assertThat(settings.plan().grace()).isEqualTo(Duration.ofSeconds(4));
    assertThat(settings.killsOnLoss()).isFalse();
  }

  @Test
  void settings_noWaitOrZero_isOneAttempt() {
    assertThat(parse("-n", "l", "c").waitAtMost()).isEqualTo(Optional.of(Duration.ZERO));
    assertThat(parse("--wait", "0", "l", "c").waitAtMost()).isEqualTo(Optional.of(Duration.ZERO));
    assertThat(parse("-n", "-w", "0", "l", "c").waitAtMost()).isEqualTo(Optional.of(Duration.ZERO));
  }

  /** The command must have its grace before a short --at-most is over. */
  @Test
  void settings_shortAtMost_shortensTheGrace() {
    assertThat(parse("--at-most", "4s", "l", "c").plan().grace()).isEqualTo(Duration.ofSeconds(1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-n -w 5 l c | --no-wait and --wait exclude each other",
        "-E 256 l c | --busy-exit must be between 0 and 255",
        "-E -1 l c | --busy-exit must be between 0 and 255",
        "--lease 0 l c | --lease must be longer than 0",
        "--at-most 0 l c | --at-most must be longer than 0",
        "--grace 20s l c | --grace 20 s is more than half of the lease",
        "l -- | no command after --",
      })
  void settings_contradictions_areRefused(String line, String message) {
    assertThatThrownBy(() -> parse(line.split(" ")))
        .hasMessageContaining(message)
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(Exit.USAGE);
  }

  private static RunSettings parse(String... arguments) {
    CommandLine line = Main.commandLine();
    line.parseArgs(Stream.concat(Stream.of("run"), Stream.of(arguments)).toArray(String[]::new));
    CommandLine run = Objects.requireNonNull(line.getSubcommands().get("run"));
    return run.<RunCommand>getCommand().settings();
  }
}
