// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that a test started, and what it has said so far. */
final class Job {
  private final Process process;
  private final Path stdout;
  private final Path stderr;
  private final String name;

  Job(String name, Process process, Path stdout, Path stderr) {
    this.name = name;
    this.process = process;
    this.stdout = stdout;
    this.stderr = stderr;
  }

  long pid() {
    return process.pid();
  }

  Process process() {
    return process;
  }

  String stdout() {
    return read(stdout);
  }

  String stderr() {
    return read(stderr);
  }

  /** Waits for the end and returns the exit code, 128+n after a signal. */
  int exitCode() {
    try {
      if (!process.waitFor(Await.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("still running: " + this);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  Job untilStdout(String text) {
    Await.until("stdout has: " + text, () -> stdout().contains(text), this::toString);
    return this;
  }

  Job untilStderr(String text) {
    Await.until("stderr has: " + text, () -> stderr().contains(text), this::toString);
    return this;
  }

  /** Sends a signal to this process alone. */
  void signal(String signal) {
    Processes.signal(signal, pid());
  }

  /** Types on its stdin. */
  void type(String text) {
    try {
      process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return name + " (pid " + pid()
        + (process.isAlive() ? ", running" : ", exit " + process.exitValue()) + ")\nstdout:\n"
        + stdout() + "\nstderr:\n" + stderr();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
