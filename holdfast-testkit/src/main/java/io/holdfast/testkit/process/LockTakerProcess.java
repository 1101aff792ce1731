// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Drives a {@link LockTaker} in a JVM of its own: tells it what to do, kills it, stops it and lets it go on. */
public final class LockTakerProcess implements AutoCloseable {
  private static final Logger LOGGER = Logger.getLogger("io.holdfast");

  /** A JVM that starts needs seconds of a processor, which a busy machine may take its time to give. */
  private static final Duration START = Await.PATIENCE.multipliedBy(4);

  private static final Pattern LOGGED =
      Pattern.compile("io\\.holdfast\\S* (INFO|WARNING|SEVERE): (.*)");

  private final Process process;
  private final Writer in;
  private final BufferedReader out;
  private final Thread log;

  private LockTakerProcess(Process process) {
    this.process = process;
    in = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    BufferedReader err =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    log = new Thread(() -> passOn(err), "lock-taker-log");
    log.setDaemon(true);
  }

  /**
   * Starts a JVM with the class path of this one, and waits until it is connected.
   *
   * @param uri the store's address
   * @return the running process
   */
  public static LockTakerProcess start(String uri) {
    List<String> command = List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xshare:auto",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx64m",
        // as the command sets it: it saves time at each start
        "-Dio.lettuce.core.jfr=false",
        "-Duser.language=en",
        "-Djava.util.logging.SimpleFormatter.format=%3$s %4$s: %5$s%6$s%n",
        "-cp",
        System.getProperty("java.class.path"),
        LockTaker.class.getName(),
        uri);
    Process process;
    try {
      process = new ProcessBuilder(command).start();
    } catch (IOException e) {
      throw new AssertionError("no second JVM", e);
    }
    LockTakerProcess taker = new LockTakerProcess(process);
    taker.log.start();
    try {
      String said = Await.value(taker.nextLine(), START);
      if (!said.equals("READY")) {
        throw new AssertionError("the lock taker said: " + said);
      }
      return taker;
    } catch (AssertionError e) {
      String had = process.info().totalCpuDuration().map(DurationText::of).orElse("nothing known");
      taker.endNow();
      throw new AssertionError("no lock taker, which has had " + had + " of a processor", e);
    }
  }

  /** Logs in this process what Holdfast logs in the other one: the test that started it judges both. The rest goes to stderr. */
  private static void passOn(BufferedReader lines) {
    try (lines) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher logged = LOGGED.matcher(line);
        if (logged.matches()) {
          LOGGER.log(Level.parse(logged.group(1)), "{0}", logged.group(2));
        } else {
          System.err.println(line);
        }
      }
    } catch (IOException e) {
      LOGGER.log(Level.FINE, "a lock taker's log broke off", e);
    }
  }

  /**
   * Sends a line, and waits for the answer.
   *
   * @param line what {@link LockTaker} understands
   * @return its answer
   */
  public String ask(String line) {
    return Await.value(send(line));
  }

  /**
   * Sends a line. One at a time.
   *
   * @param line what {@link LockTaker} understands
   * @return completes with the answer
   */
  public CompletableFuture<String> send(String line) {
    try {
      in.write(line + "\n");
      in.flush();
    } catch (IOException e) {
      throw new AssertionError("the lock taker is gone", e);
    }
    return nextLine();
  }

  /** Stops the whole process, as {@code kill -STOP} does. */
  public void stop() {
    signal("STOP");
  }

  /** Lets it go on, as {@code kill -CONT} does. */
  public void letGoOn() {
    signal("CONT");
  }

  /** Kills it, as {@code kill -9} does, and waits until it is gone. */
  public void kill() {
    endNow();
    awaitEnd();
  }

  /** Ends its input, and so the process, in an orderly way; kills it if it does not end. */
  @Override
  public void close() {
    if (!process.isAlive()) {
      awaitEnd();
      return;
    }
    signal("CONT");
    try {
      in.close();
      awaitEnd();
    } catch (IOException e) {
      throw new AssertionError("the lock taker's input could not be closed", e);
    } finally {
      endNow();
    }
  }

  /** By its handle: what Process does closes our end of its output too, with what was not read yet. */
  private void endNow() {
    boolean unused = process.toHandle().destroyForcibly();
  }

  private void awaitEnd() {
    Await.until("the lock taker has ended", () -> !process.isAlive());
    Await.until("its log was read", () -> !log.isAlive());
  }

  private void signal(String signal) {
    if (!Signals.send(signal, List.of(process.pid()))) {
      throw new AssertionError("kill -" + signal + " failed");
    }
  }

  private CompletableFuture<String> nextLine() {
    CompletableFuture<String> line = new CompletableFuture<>();
    Thread reader = new Thread(
        () -> {
          try {
            String read = out.readLine();
            line.complete(read == null ? "ENDED" : read);
          } catch (IOException e) {
            line.completeExceptionally(new CompletionException(e));
          }
        },
        "reads-the-lock-taker");
    reader.setDaemon(true);
    reader.start();
    return line;
  }
}
