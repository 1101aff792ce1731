// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Several {@link Contestant} processes: children, which end when they are closed and with this process at the latest. */
final class Contestants implements AutoCloseable {
  private final List<Child> children = new ArrayList<>();

  /** Starts them, and waits until all are ready. */
  Contestants(int number, String server, Path count) throws IOException {
    try {
      for (int i = 0; i < number; i++) {
        children.add(new Child(server, count));
      }
      for (Child child : children) {
        child.expect("ready");
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Lets each connect as somebody, one after the other: all at once they might be too slow for a time-out. */
  void meet(List<String> peers) throws IOException {
    for (Child child : children) {
      for (String peer : peers) {
        child.write("meet\t" + peer);
        child.expect("met");
      }
    }
  }

  /** Tells the first of them the same thing, and returns what each answers when all are done. */
  List<String> tell(int number, String what, String peer, String name, long millis, int last)
      throws IOException {
    List<Child> some = children.subList(0, number);
    for (Child child : some) {
      child.write(
          String.join("\t", what, peer, name, Long.toString(millis), Integer.toString(last)));
    }
    List<String> answers = new ArrayList<>();
    for (Child child : some) {
      answers.add(child.answer());
    }
    return answers;
  }

  @Override
  public void close() {
    children.forEach(Child::end);
  }

  private static final class Child {
    private final Process process;
    private final Writer in;
    private final BufferedReader out;
    private final Thread hook;

    Child(String server, Path count) throws IOException {
      process = new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-cp",
              System.getProperty("java.class.path"),
              Contestant.class.getName(),
              server,
              count.toString())
          .redirectError(ProcessBuilder.Redirect.INHERIT)
          .start();
      hook = new Thread(process::destroyForcibly);
      Runtime.getRuntime().addShutdownHook(hook);
      in = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
      out = new BufferedReader(
          new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    void write(String line) throws IOException {
      in.write(line + "\n");
      in.flush();
    }

    String answer() throws IOException {
      String line = out.readLine();
      if (line == null) {
        throw new EOFException("a contestant has ended");
      }
      return line;
    }

    void expect(String expected) throws IOException {
      String line = answer();
      if (!line.equals(expected)) {
        throw new IOException("a contestant said: " + line);
      }
    }

    void end() {
      process.destroyForcibly();
      process.onExit().join();
      Runtime.getRuntime().removeShutdownHook(hook);
    }
  }
}
