// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the plain parser reads, picocli reads in the same way. */
class PlainRunTest {
  private static final List<String> OPTIONS = List.of(
      "-n",
      "--no-wait",
      "--fair",
      "-q",
      "--quiet",
      "-v",
      "-vv",
      "-nq",
      "-h",
      "--help",
      "--",
      "-",
      "--store",
      "-w",
      "--wait",
      "-E",
      "--busy-exit",
      "--lease",
      "--at-least",
      "--at-most",
      "--grace",
      "--on-lost",
      "--nonsense",
      "-w5",
      "-E0",
      "--wait=5s",
      "--wait=",
      "--store=redis://h?a=b",
      "--lease=-1",
      "--fair=true");
  private static final List<String> VALUES = List.of(
      "5",
      "5s",
      "500ms",
      "0",
      "1h",
      "010",
      "255",
      "256",
      "-1",
      "+5",
      "0x1",
      "sqlite:a b",
      "@file",
      "@@file",
      "kill",
      "warn",
      "Warn",
      "",
      "'5'",
      "\"5\"",
      "${HOME}",
      "x=y",
      "run",
      "ls");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run lock true",
        "run nightly -- ./backup.sh",
        "run -n -E 0 nightly ./backup.sh -n --wait",
        "run -w 5m --at-least 50m mail -- ./send-mail @list --help",
        "run --store @/etc/holdfast.store deploy -- sh -c a",
        "run --store=sqlite:x --lease 30 --grace 5s --at-most 1h --on-lost warn --fair -q lock cmd",
      })
  void parse_usualLines_areRead(String line) {
    assertThat(described(line.split(" "))).isPresent().isEqualTo(byPicocli(line.split(" ")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "run",
        "run lock",
        "run -n lock",
        "run --help",
        "run -h lock true",
        "run --lease x lock true",
        "run --lease -1 lock true",
        "run -n -n lock true",
        "run -w 1 --wait 2 lock true",
        "run -E 3 --busy-exit 4 lock true",
        "run -nE0 lock true",
        "run -- lock true",
        "run --on-lost nothing lock true",
        "ls lock true",
        "--help run lock true",
      })
  void parse_anythingElse_isLeftToPicocli(String line) {
    assertThat(PlainRun.parse(line.split(" "))).isEmpty();
  }

  @Test
  void parse_anyLine_agreesWithPicocli() {
    int read = 0;
    for (int seed = 0; seed < 2000; seed++) {
      String[] line = randomLine(new Random(seed));
      Optional<String> plain = described(line);
      if (plain.isPresent()) {
        read++;
        assertThat(plain).as(String.join("|", line)).isEqualTo(byPicocli(line));
      }
    }
    assertThat(read).isGreaterThan(150);
  }

  private static String[] randomLine(Random random) {
    List<String> line = new ArrayList<>(List.of("run"));
    IntStream.range(0, random.nextInt(4)).forEach(i -> {
      String option = OPTIONS.get(random.nextInt(OPTIONS.size()));
      line.add(option);
      boolean takesValue = OPTIONS.indexOf(option) >= OPTIONS.indexOf("--store");
      if (takesValue ? random.nextInt(8) > 0 : random.nextInt(20) == 0) {
        line.add(VALUES.get(random.nextInt(VALUES.size())));
      }
    });
    IntStream.range(0, random.nextInt(5))
        .mapToObj(i -> random.nextInt(3) > 0 ? VALUES : OPTIONS)
        .forEach(words -> line.add(words.get(random.nextInt(words.size()))));
    return line.toArray(String[]::new);
  }

  private static Optional<String> described(String... line) {
    return PlainRun.parse(line).map(PlainRunTest::describe);
  }

  private static Optional<String> byPicocli(String... line) {
    CommandLine all = Main.commandLine();
    try {
      CommandLine.ParseResult result = all.parseArgs(line);
      if (result.isUsageHelpRequested() || result.subcommand().isUsageHelpRequested()) {
        return Optional.of("help");
      }
    } catch (CommandLine.ParameterException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
    CommandLine run = Objects.requireNonNull(all.getSubcommands().get("run"));
    return Optional.of(describe(run.getCommand()));
  }

  private static String describe(RunCommand run) {
    return Stream.of(
            run.store.store,
            run.wait,
            run.noWait,
            run.busyExit,
            run.lease,
            run.atLeast,
            run.atMost,
            run.grace,
            run.fair,
            run.onLost,
            run.verbosity.quiet,
            run.verbosity.verbose.length,
            run.name,
            run.command)
        .map(String::valueOf)
        .toList()
        .toString();
  }
}
