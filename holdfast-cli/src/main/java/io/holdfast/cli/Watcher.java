// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the watcher of {@code supervise.sh} tells us, through a pipe that ends when the watcher does. */
final class Watcher implements AutoCloseable {
  /** Keeps the pipe from ending before the watcher has opened it. */
  private final RandomAccessFile opened;

  private final FileInputStream pipe;
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile @Nullable ProcessHandle process;
  private volatile @Nullable Group group;
  private volatile boolean closed;
  private volatile boolean asked;
  private boolean listened;

  /**
   * The process group of the command.
   *
   * @param leader the command; its number is the group's
   * @param stop the name of the signal that stops the group
   */
  record Group(ProcessHandle leader, String stop) {
    /** Whether the number is still that of our command: another process may have got it since. */
    boolean isThere() {
      // compares the time at which the process began
      return leader.isAlive();
    }
  }

  private Watcher(RandomAccessFile opened, FileInputStream pipe) {
    this.opened = opened;
    this.pipe = pipe;
  }

  /** Opens the pipe, which has no other side yet. */
  static Watcher at(Path pipe) throws IOException {
    // first this one: without a writer, the other would wait
    RandomAccessFile opened = new RandomAccessFile(pipe.toFile(), "rw");
    return new Watcher(opened, new FileInputStream(pipe.toFile()));
  }

  /**
   * Listens from now on, on a thread of its own.
   *
   * @param whenReady called when the command waits for its token
   * @param whenGone called if the watcher ends before we close, while the command runs
   */
  void listen(Runnable whenReady, Consumer<Group> whenGone) {
    Thread thread = new Thread(() -> read(whenReady, whenGone), "holdfast-watcher");
    thread.setDaemon(true);
    listened = true;
    thread.start();
  }

  private void read(Runnable whenReady, Consumer<Group> whenGone) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(pipe, StandardCharsets.US_ASCII))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        said(line, whenReady);
      }
    } catch (IOException | NumberFormatException e) {
      System.getLogger("io.holdfast.cli")
          .log(
              System.Logger.Level.WARNING,
              "cannot read what the watcher of the command reports",
              e);
    }
    end.countDown();
    Group there = group;
    if (there != null && !closed) {
      whenGone.accept(there);
    }
  }

  private void said(String line, Runnable whenReady) throws IOException {
    String[] words = line.split(" ", -1);
    if (words[0].equals("watcher")) {
      process = ProcessHandle.of(Long.parseLong(words[1])).orElse(null);
    } else if (words[0].equals("ready")) {
      group = ProcessHandle.of(Long.parseLong(words[1]))
          .map(leader -> new Group(leader, words[2]))
          .orElse(null);
      opened.close();
      whenReady.run();
    } else if (words[0].equals("told")) {
      asked = false;
    }
  }

  /** The watcher is being told something that it will confirm. */
  void ask() {
    asked = true;
  }

  /** Whether it has yet to confirm what it was told last: it may be stopped, and its pipe must not fill. */
  boolean isAsked() {
    return asked;
  }

  /** The group, once the watcher can signal it. */
  Optional<Group> group() {
    return Optional.ofNullable(group);
  }

  /** Whether the watcher has ended, or what it says cannot be read any more. */
  boolean isGone() {
    return end.getCount() == 0;
  }

  /** Waits until the watcher has ended, as it does when it is told to; false if it has not, as one that is stopped. */
  boolean ends(Duration within) throws InterruptedException {
    return end.await(within.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Kills the watcher, and not another process that has its number; a watcher that has not said its number is left alone. */
  void kill() {
    // compares the time at which the process began
    Optional.ofNullable(process).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** The watcher may end from now on. The thread that reads closes the pipe then. */
  @Override
  public void close() throws IOException {
    closed = true;
    opened.close();
    if (!listened) {
      pipe.close();
    }
  }
}
