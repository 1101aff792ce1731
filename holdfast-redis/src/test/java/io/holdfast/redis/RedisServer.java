// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.testkit.Await;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A redis-server of our own: a child process with a folder and a port that stay the same over restarts. It ends with
 * {@link #close()}, and with this JVM at the latest.
 *
 * <p>The program is {@code HOLDFAST_REDIS_SERVER}, else what is in {@code PATH}, else what {@code dev/servers} has
 * fetched. Without one the test is not run; with {@code -Dholdfast.stores=required} it fails.
 */
final class RedisServer implements AutoCloseable {
  private final Path program;
  private final Path folder;
  private final int port;
  private final List<String> options;
  private @Nullable Process process;

  private RedisServer(Path program, List<String> options) {
    this.program = program;
    this.options = options;
    this.port = freePort();
    try {
      this.folder = Files.createTempDirectory("holdfast-redis");
    } catch (IOException e) {
      throw new UncheckedIOException("no folder for the server", e);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    start();
  }

  /** Starts a server whose every change is on disk before it answers. */
  static RedisServer durable() {
    return with("--appendonly", "yes", "--appendfsync", "always");
  }

  /** Starts a server that keeps nothing on disk. */
  static RedisServer forgetful() {
    return with("--appendonly", "no");
  }

  static RedisServer with(String... options) {
    Optional<Path> program = program();
    if (program.isEmpty()) {
      String message = "redis-server was not found: run dev/servers, or set HOLDFAST_REDIS_SERVER";
      if (System.getProperty("holdfast.stores", "").equals("required")) {
        throw new AssertionError(message);
      }
      return abort(message);
    }
    return new RedisServer(program.get(), List.of(options));
  }

  private static Optional<Path> program() {
    List<Path> places = new ArrayList<>();
    Optional.ofNullable(System.getenv("HOLDFAST_REDIS_SERVER"))
        .map(Path::of)
        .ifPresent(places::add);
    for (String each : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      places.add(Path.of(each, "redis-server"));
    }
    places.add(cache().resolve("bin").resolve("redis-server"));
    return places.stream().filter(Files::isExecutable).findFirst();
  }

  private static Path cache() {
    String own = System.getenv("HOLDFAST_SERVERS");
    if (own != null) {
      return Path.of(own);
    }
    String caches = System.getenv("XDG_CACHE_HOME");
    return (caches != null ? Path.of(caches) : Path.of(System.getProperty("user.home"), ".cache"))
        .resolve("holdfast")
        .resolve("servers");
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("no free port", e);
    }
  }

  String uri() {
    return "redis://127.0.0.1:" + port;
  }

  int port() {
    return port;
  }

  /** Starts the process, and waits until it answers. */
  void start() {
    List<String> command = new ArrayList<>(List.of(
        program.toString(),
        "--port",
        Integer.toString(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder.toString(),
        "--save",
        "",
        "--daemonize",
        "no"));
    command.addAll(options);
    try {
      process = new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(folder.resolve("log").toFile())
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException("redis-server does not start", e);
    }
    Await.until("redis-server answers", this::answers);
  }

  private boolean answers() {
    try {
      return "PONG".equals(call(RedisCommands::ping));
    } catch (RedisConnectionException | RedisLoadingException e) {
      // not there yet, or still reading its file
      return false;
    }
  }

  /** Asks the server something, past the store. */
  <T> T call(Function<RedisCommands<String, String>, T> what) {
    RedisClient client = RedisClient.create(uri());
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    try (var connection = client.connect()) {
      return what.apply(connection.sync());
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  void kill() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly().onExit().join();
      process = null;
    }
  }

  void restart() {
    kill();
    start();
  }

  void pause() {
    signal("STOP");
  }

  void resume() {
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
