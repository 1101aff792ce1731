// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A server of a test's own: a child process, with a folder that stays the same when it is killed and started again. It
 * ends with {@link #close()}, and with this JVM at the latest.
 */
public final class ServerProcess implements AutoCloseable {
  private final Path program;
  private final Path folder;
  private @Nullable Process process;

  private ServerProcess(Path program, Path folder) {
    this.program = program;
    this.folder = folder;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close));
  }

  /**
   * Finds a server's program, and makes a folder for it; starts nothing yet. The program is what the environment
   * variable {@code HOLDFAST_NAME} names, with the name in capitals and {@code _} for {@code -}; else what is in {@code
   * PATH}; else what {@code dev/servers} has fetched. Without one the test is not run; with {@code
   * -Dholdfast.stores=required} it fails.
   *
   * @param name the program, for example {@code redis-server}
   * @return a server that does not run yet
   */
  public static ServerProcess of(String name) {
    String variable = variable(name);
    Optional<Path> program = find(name, variable);
    if (program.isEmpty()) {
      notRun(name + " was not found: run dev/servers, or set " + variable);
    }
    try {
      return new ServerProcess(program.orElseThrow(), Files.createTempDirectory("holdfast-server"));
    } catch (IOException e) {
      throw new UncheckedIOException("no folder for the server", e);
    }
  }

  /**
   * Says whether {@link #of} would find the program.
   *
   * @param name the program, for example {@code redis-server}
   * @return whether it is there
   */
  public static boolean isThere(String name) {
    return find(name, variable(name)).isPresent();
  }

  /** Something that the test needs is missing: it ends here, or fails. */
  static void notRun(String why) {
    if (System.getProperty("holdfast.stores", "").equals("required")) {
      throw new AssertionError(why);
    }
    Assumptions.abort(why);
  }

  private static String variable(String name) {
    return "HOLDFAST_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  private static Optional<Path> find(String name, String variable) {
    List<Path> places = new ArrayList<>();
    Optional.ofNullable(System.getenv(variable)).map(Path::of).ifPresent(places::add);
    for (String each : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      places.add(Path.of(each, name));
    }
    places.add(cache().resolve("bin").resolve(name));
    return places.stream().filter(Files::isExecutable).findFirst();
  }

  static Path cache() {
    String own = System.getenv("HOLDFAST_SERVERS");
    if (own != null) {
      return Path.of(own);
    }
    String caches = System.getenv("XDG_CACHE_HOME");
    return (caches != null ? Path.of(caches) : Path.of(System.getProperty("user.home"), ".cache"))
        .resolve("holdfast")
        .resolve("servers");
  }

  /**
   * Returns a port of this machine that nobody listens on just now.
   *
   * @return the port
   */
  public static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
  }

  /**
   * Returns the server's folder, which is removed by {@link #close()}.
   *
   * @return the folder
   */
  public Path folder() {
    return folder;
  }

  /**
   * Starts the process; does not wait until it answers. What it says goes to the file {@code log} in its folder.
   *
   * @param arguments the arguments of the program
   */
  public void start(List<String> arguments) {
    start(arguments, Map.of());
  }

  /**
   * As {@link #start(List)}, with more in its environment than we have.
   *
   * @param arguments the arguments of the program
   * @param environment what is added
   */
  public void start(List<String> arguments, Map<String, String> environment) {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()));
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(program + " does not start", e);
    }
  }

  /** Ends the process as {@code kill -9} does: nothing is flushed, nobody is told. */
  public void kill() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly().onExit().join();
      process = null;
    }
  }

  /** Stops the process as SIGSTOP does: its connections stay, and nothing is answered. */
  public void pause() {
    signal("STOP");
  }

  /** Lets a paused process go on. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("the server does not run");
    }
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(running.pid()))
          .inheritIO()
          .start();
      assertEquals(0, kill.onExit().join().exitValue(), "kill -" + name);
    } catch (IOException e) {
      throw new UncheckedIOException("no kill", e);
    }
  }

  /** Kills the process, and removes the folder. */
  @Override
  public void close() {
    kill();
    try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the server's folder could not be removed", e);
    }
  }
}
