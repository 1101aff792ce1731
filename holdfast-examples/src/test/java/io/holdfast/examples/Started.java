// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A process that a test has started, what it has said so far, and how to speak to it. */
record Started(Process process, Path said) {
  private static final long PATIENCE_SECONDS = 60L * Integer.getInteger("holdfast.patience", 1);

  static Started start(Path folder, String name, List<String> command) throws IOException {
    Path said = folder.resolve(name + ".out");
    Process process = new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(said.toFile())
        .start();
    return new Started(process, said);
  }

  boolean hasSaid(String line) {
    try {
      return Files.readString(said, StandardCharsets.UTF_8).lines().anyMatch(line::equals);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All that it has said, for what is told of a test that failed. */
  String text() {
    try {
      return Files.readString(said, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** How often it has said a line that begins with a word. */
  long count(String word) {
    try {
      return Files.readString(said, StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(word + " "))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@link #tell}, where nothing checked can be thrown. */
  void say(String line) {
    try {
      tell(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void tell(String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  int exitCode() throws IOException, InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("still running; said: " + Files.readString(said));
    }
    return process.exitValue();
  }

  /** Waits for a state by looking again and again, and not for ever. */
  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    long begin = System.nanoTime();
    while (!condition.getAsBoolean()) {
      boolean late = System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      if (late || never.await(5, TimeUnit.MILLISECONDS)) {
        throw new AssertionError("not within " + PATIENCE_SECONDS + " s: " + what);
      }
    }
  }
}
