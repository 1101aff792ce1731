// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.testkit.process.SkewedClock;
import io.holdfast.testkit.process.SmallDisk;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Redis server of our own, or one that speaks as Redis does: a child process with a folder and a port that stay the same
 * over restarts.
 */
final class RedisServer implements AutoCloseable {
  private static final String REDIS = "redis-server";
  private static final String VALKEY = "valkey-server";

  /** What each says of itself; others name a version of Redis, too, that they speak as. */
  private static final Map<String, Pattern> VERSIONS = Map.of(
      REDIS, Pattern.compile("(?m)^redis_version:(\\S+)"),
      VALKEY, Pattern.compile("(?m)^valkey_version:(\\S+)"));

  private final String program;
  private final ServerProcess process;
  private final int port = ServerProcess.freePort();
  private final List<String> options;
  private final Optional<SkewedClock> clock;

  private final Optional<SmallDisk> disk;

  private RedisServer(String program, List<String> options, boolean movesItsClock) {
    this.program = program;
    this.process = ServerProcess.of(program);
    this.options = options;
    this.clock = movesItsClock ? Optional.of(SkewedClock.in(folder())) : Optional.empty();
    this.disk = Optional.empty();
    start();
  }

  private RedisServer(List<String> options, String sizeOfDisk) {
    this.program = REDIS;
    this.process = ServerProcess.of(program);
    this.options = options;
    this.clock = Optional.empty();
    this.disk = Optional.of(SmallDisk.on(folder(), sizeOfDisk));
    start();
  }

  /** Starts a server that keeps nothing on disk, with a clock that can be moved. */
  static RedisServer withAClock() {
    return new RedisServer(REDIS, List.of("--appendonly", "no"), true);
  }

  /** Starts a server whose every change is on disk before it answers. */
  static RedisServer durable() {
    return durable(REDIS);
  }

  /** As {@link #durable()}, a Valkey. */
  static RedisServer durableValkey() {
    return durable(VALKEY);
  }

  private static RedisServer durable(String program) {
    return new RedisServer(
        program, List.of("--appendonly", "yes", "--appendfsync", "always"), false);
  }

  /** Starts a server that keeps nothing on disk. */
  static RedisServer forgetful() {
    return with("--appendonly", "no");
  }

  /** Starts a server that has a disk of its own, which goes with its process. */
  static RedisServer onASmallDisk(String size, String... options) {
    return new RedisServer(List.of(options), size);
  }

  static RedisServer with(String... options) {
    return new RedisServer(REDIS, List.of(options), false);
  }

  String uri() {
    return "redis://127.0.0.1:" + port;
  }

  int port() {
    return port;
  }

  /** Returns the server's name and version, as the matrix shows it. */
  String version() {
    Pattern version = Objects.requireNonNull(VERSIONS.get(program));
    Matcher found = version.matcher(call(redis -> redis.info("server")));
    return (program.equals(REDIS) ? "Redis " : "Valkey ")
        + (found.find() ? found.group(1) : "of an unknown version")
        + ServerPrograms.remark(program);
  }

  Path folder() {
    return process.folder();
  }

  /** Starts the process, and waits until it answers. */
  void start() {
    List<String> arguments = new ArrayList<>(List.of(
        "--port",
        Integer.toString(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder().toString(),
        "--save",
        "",
        "--daemonize",
        "no"));
    arguments.addAll(options);
    disk.ifPresentOrElse(
        mine -> process.start(arguments, mine),
        () -> process.start(arguments, clock.map(SkewedClock::environment).orElse(Map.of())));
    process.awaitAnswer(this::answers);
  }

  private boolean answers() {
    // not there yet, or still reading its file
    return says(redis -> "PONG".equals(redis.ping()));
  }

  /** Asks what is waited for: a server that is away, or has just closed the connection, has not said it. */
  boolean says(Predicate<RedisCommands<String, String>> what) {
    try {
      return call(what::test);
    } catch (RedisException e) {
      return false;
    }
  }

  /** Asks what it is in its group; a server that is told what it is closes all connections, ours too. */
  boolean saysOfReplication(String what) {
    return says(redis -> redis.info("replication").contains(what));
  }

  /**
   * Waits until a replica is sent at once what is written here. When it counts as connected that may be a second away: it
   * is sent nothing before it has read all that was there, and WAIT counts it already for what was part of that.
   */
  void awaitReplica(RedisServer replica) {
    Await.until(
        "the replica has everything", () -> replica.saysOfReplication("master_link_status:up"));
    Await.until(
        "the primary hears of it",
        () -> says(redis -> {
          redis.set("marker", "");
          return redis.waitForReplication(1, 1000) == 1;
        }));
  }

  /** Returns a connection past the store; the caller closes it. */
  StatefulRedisConnection<String, String> connect() {
    return Direct.asking().connect(RedisURI.create(uri()));
  }

  /** Asks the server something, past the store. */
  <T> T call(Function<RedisCommands<String, String>, T> what) {
    try (var connection = connect()) {
      return what.apply(connection.sync());
    }
  }

  /** Adds rules to a user, who is made if it is not there. */
  void setUser(String name, List<String> rules) {
    CommandArgs<String, String> arguments =
        new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(name);
    rules.forEach(arguments::add);
    call(redis -> redis.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments));
  }

  /** Fills what is left of the small disk. */
  void fillDisk() {
    disk.orElseThrow().fill(process);
  }

  void makeRoomOnDisk() {
    disk.orElseThrow().makeRoom(process);
  }

  /** Sets the server's clock: how far it is ahead of ours. */
  void clockAhead(Duration by) {
    clock.orElseThrow().set(by);
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  void kill() {
    process.kill();
  }

  void restart() {
    kill();
    start();
  }

  void pause() {
    process.pause();
  }

  void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
