// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The programs of the servers that tests start, and where they are. */
public final class ServerPrograms {
  private ServerPrograms() {}

  /**
   * Runs a program that comes with a server to its end, for example the one that makes its data folder. It is found as
   * {@link ServerProcess#of} says.
   *
   * @param name the program, for example {@code initdb}
   * @param arguments the arguments of the program
   * @param input what it reads; must be little
   * @return what it says, on both of its outputs
   * @throws AssertionError if it fails
   */
  public static String run(String name, List<String> arguments, String input) {
    List<String> command = new ArrayList<>(List.of(get(name).toString()));
    command.addAll(arguments);
    try {
      Process running = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (OutputStream in = running.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      }
      String said = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, running.onExit().join().exitValue(), () -> command + ": " + said);
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(name + " does not start", e);
    }
  }

  /**
   * Returns the folder that {@code dev/servers} unpacks servers into, and that tests keep in what they prepare once.
   *
   * @return {@code HOLDFAST_SERVERS}, else a folder below the user's cache folder; it need not exist
   */
  public static Path cache() {
    String own = System.getenv("HOLDFAST_SERVERS");
    if (own != null) {
      return Path.of(own);
    }
    String caches = System.getenv("XDG_CACHE_HOME");
    return (caches != null ? Path.of(caches) : Path.of(System.getProperty("user.home"), ".cache"))
        .resolve("holdfast")
        .resolve("servers");
  }

  /** Returns where a program is. Without it the test is not run. */
  static Path get(String name) {
    Optional<Path> program = find(name);
    if (program.isEmpty()) {
      notRun(name + " was not found: run dev/servers, or set " + variable(name));
    }
    return program.orElseThrow();
  }

  static Optional<Path> find(String name) {
    List<Path> places = new ArrayList<>();
    Optional.ofNullable(System.getenv(variable(name))).map(Path::of).ifPresent(places::add);
    places.add(cache().resolve("bin").resolve(name));
    for (String each : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      places.add(Path.of(each, name));
    }
    return places.stream().filter(Files::isExecutable).findFirst();
  }

  private static String variable(String name) {
    return "HOLDFAST_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** Something that the test needs is missing: it ends here, or fails. */
  static void notRun(String why) {
    if (System.getProperty("holdfast.stores", "").equals("required")) {
      throw new AssertionError(why);
    }
    Assumptions.abort(why);
  }
}
