// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One message in every case, from four processes on one SQLite file. The hour is scaled down: what others wait is as
 * long as a case needs, and what is kept is longer than any test takes, as 50 minutes are against 5.
 */
abstract class HourlyMessageCases {
  private static final int MACHINES = 4;
  private static final int PATIENCE = Integer.getInteger("holdfast.patience", 1);
  static final int KEPT_MILLIS = 600_000;
  static final int LEASE_MILLIS = 6_000 * PATIENCE;

  @TempDir
  Path folder = Path.of("set before each test");

  private final List<Started> machines = new ArrayList<>();

  @BeforeEach
  void makeRoomForOneFirst() throws IOException {
    Files.createFile(folder.resolve("first"));
  }

  @AfterEach
  void endWhatIsLeft() throws InterruptedException {
    for (Started machine : machines) {
      machine.process().destroyForcibly().waitFor();
    }
  }

  /** Whoever has seen the sender succeed gives up. */
  @Test
  void oneMessage_afterSuccess() throws Exception {
    Started sender = strikeTheHour(4_000);
    sender.tell("succeed");
    assertThat(exitCodes()).containsExactlyInAnyOrder(0, busyExit(), busyExit(), busyExit());
    assertThat(sender.exitCode()).isZero();
    assertThat(messages()).hasSize(1);
  }

  /** Whoever waited for a sender that fails sends itself, at once. */
  @Test
  void oneMessage_afterFailure() throws Exception {
    Started sender = strikeTheHour(6_000);
    sender.tell("fail");
    assertThat(exitCodes()).containsExactlyInAnyOrder(0, 1, busyExit(), busyExit());
    assertThat(sender.exitCode()).isEqualTo(1);
    assertThat(messages()).hasSize(1);
  }

  /** Whoever waited for a sender that is killed sends itself, when the lease has ended. */
  @Test
  void oneMessage_afterKillOfTheSender() throws Exception {
    Started sender = strikeTheHour(16_000);
    sender.process().destroyForcibly();
    assertThat(exitCodes()).containsExactlyInAnyOrder(0, 137, busyExit(), busyExit());
    assertThat(sender.exitCode()).isEqualTo(137);
    assertThat(messages()).hasSize(1);
  }

  /** Starts all machines; returns the one that sends first, while the others wait for it. */
  private Started strikeTheHour(int waitMillis) throws Exception {
    for (int i = 0; i < MACHINES; i++) {
      machines.add(Started.start(folder, "machine" + i, commandLine(waitMillis * PATIENCE)));
    }
    untilAllAsk();
    Started.until("somebody sends", () -> first().findAny().isPresent());
    assertThat(first()).hasSize(1);
    return first().findAny().orElseThrow();
  }

  /** What a machine runs; the first sender of all says {@code first} and is then told how its sending ends. */
  abstract List<String> commandLine(int waitMillis) throws IOException;

  /** What a machine exits with that had nothing to do. */
  int busyExit() {
    return HourlyMessage.GAVE_UP;
  }

  /** Returns when all machines have started the job; as exactly as the job lets see it. */
  abstract void untilAllAsk() throws Exception;

  static List<String> java(String... arguments) {
    return javaOf(System.getProperty("java.class.path"), arguments);
  }

  /** As {@link #java}, from another class path. */
  static List<String> javaOf(String classPath, String... arguments) {
    List<String> line = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        // drivers load libraries, which newer JDKs remark on
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        classPath));
    line.addAll(List.of(arguments));
    return line;
  }

  List<Started> machines() {
    return machines;
  }

  boolean allHaveSaid(String line) {
    return machines.stream().allMatch(machine -> machine.hasSaid(line));
  }

  private Stream<Started> first() {
    return machines.stream().filter(machine -> machine.hasSaid("first"));
  }

  private List<Integer> exitCodes() throws IOException, InterruptedException {
    List<Integer> codes = new ArrayList<>();
    for (Started machine : machines) {
      codes.add(machine.exitCode());
    }
    return codes;
  }

  private List<String> messages() throws IOException {
    return Files.readAllLines(folder.resolve("outbox"));
  }
}
