// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import io.holdfast.verify.Protocol;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code holdfast verify}: ours passes, each of the textbook's locks is caught with what it is known for, and where it
 * needs servers of its own for that, ours passes on them as well.
 */
class VerifyCommandTest {
  private static final RedisProcess REDIS = new RedisProcess();

  /** How many seeds a lock from the textbooks may take to be caught. */
  private static final int SEEDS = 5;

  /** The seed that has caught each. */
  private static final Map<Protocol, Integer> CAUGHT = new EnumMap<>(Protocol.class);

  @RegisterExtension
  final Processes processes = new Processes();

  static Stream<String> ours() {
    return Stream.of(
        "sqlite:verify.db",
        redis(),
        SqlKind.POSTGRESQL.shared().storeUri("holdfast.prefix=verify_"));
  }

  static Stream<Protocol> textbooks() {
    return Arrays.stream(Protocol.values()).filter(each -> !each.breaks().isEmpty());
  }

  @AfterAll
  static void printTable() {
    System.out.println("protocol, broken, first in seed");
    CAUGHT.forEach((protocol, seed) -> System.out.println(
        protocol.label() + ", " + String.join(" ", protocol.breaks()) + ", " + seed));
  }

  private static String redis() {
    return "redis://" + REDIS.address();
  }

  private Job verify(String store, String... options) {
    String[] line = Stream.concat(
            Stream.of("verify", "--store", store, "--clients", "3", "--yes"),
            Arrays.stream(options))
        .toArray(String[]::new);
    return processes.holdfast(line);
  }

  @ParameterizedTest
  @MethodSource
  void ours(String store) {
    Job job = verify(store, "--duration", "8s", "--lease", "1s", "--history", "facts");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).contains("PASSED").containsPattern("(?m)^kills +[1-9]");
    assertThat(processes.read("facts").lines())
        .allMatch(line -> line.startsWith("{\"what\":\"") && line.endsWith("}"))
        .anyMatch(line -> line.contains("\"ACQUIRED\""));
  }

  @ParameterizedTest
  @MethodSource
  void textbooks(Protocol protocol) {
    try (Place place = Place.of(protocol)) {
      int seed = 0;
      Job job = verify(protocol, place.uri, place, seed);
      for (; !isBroken(job, protocol); job = verify(protocol, place.uri, place, ++seed)) {
        assertThat(seed).as("a seed that does not catch it: %s", job).isLessThan(SEEDS);
      }
      CAUGHT.put(protocol, seed);
      assertThat(job.exitCode()).as(job::toString).isEqualTo(1);
      assertThat(job.stdout()).contains(protocol.text());
      assertThat(processes.read("page.html"))
          .contains("\"outcome\":\"BROKEN\"", "\"violations\":[{\"title\":\"")
          // nothing is fetched
          .doesNotContain("src=", "href=", "@import")
          .doesNotContain("\"DATA\"");
      if (!place.ours.isEmpty()) {
        // it is the flaw that was caught, and nothing that these servers and faults do to any lock
        Job ours = verify(Protocol.HOLDFAST, place.ours, place, seed);
        assertThat(ours.exitCode()).as(ours::toString).isZero();
        assertThat(ours.stdout()).contains("PASSED");
      }
    }
  }

  private Job verify(Protocol protocol, String uri, Place place, int seed) {
    return verify(
        uri,
        "--protocol",
        protocol.label(),
        "--seed",
        Integer.toString(seed),
        "--duration",
        place.duration,
        "--lease",
        place.lease,
        "--faults",
        place.faults,
        "--report",
        "page.html");
  }

  private static boolean isBroken(Job job, Protocol protocol) {
    assertThat(job.exitCode()).as(job::toString).isIn(0, 1, 3);
    return Pattern.compile("BROKEN: .*" + String.join(".*", protocol.breaks()))
        .matcher(job.stdout())
        .find();
  }

  /** What a lock from the textbooks needs to show its flaw; and where ours is to pass then, if not in {@link #ours}. */
  private record Place(
      String uri, String ours, String faults, String lease, String duration, Runnable end)
      implements AutoCloseable {
    static Place of(Protocol protocol) {
      // a lock that nothing ends is lost with a holder that is killed; most others need one that is late
      String faults = protocol.breaks().contains("I5") ? "kill" : "pause";
      return switch (protocol) {
        case ZOOKEEPER_NO_SESSION -> {
          ZooKeeperServer server = ZooKeeperServer.alone("tickTime=200", "minSessionTimeout=600");
          String uri = "zookeeper://" + server.address();
          yield new Place(uri, uri, faults, "600ms", "6s", server::close);
        }
        case REDIS_FAILOVER -> {
          RedisPair pair = new RedisPair();
          // replicas that have to confirm what is granted: a failover forgets nothing that anybody believes in
          String ours = pair.uri() + "?holdfast.replicas=1";
          yield new Place(pair.uri(), ours, "failover", "3s", "12s", pair::close);
        }
        case REDLOCK_NO_ELAPSED -> {
          String uri = RedisTopology.REDLOCK.uri();
          yield new Place(uri, uri, faults, "600ms", "6s", () -> {});
        }
        default -> {
          String uri =
              protocol.fits("redis:") ? redis() : SqlKind.POSTGRESQL.shared().storeUri();
          yield new Place(uri, "", faults, "600ms", "6s", () -> {});
        }
      };
    }

    @Override
    public void close() {
      end.run();
    }
  }

  @Test
  void list_namesEach() {
    Job job = processes.holdfast("verify", "--list");
    assertThat(job.exitCode()).as(job::toString).isZero();
    for (Protocol each : Protocol.values()) {
      assertThat(job.stdout()).contains(each.label()).contains(each.text());
    }
  }

  @Test
  void nonsense_isRefused() {
    refused("there is no protocol x; there are holdfast, redis-setnx", "--protocol", "x");
    refused("is not for this store", "--protocol", "redis-del");
    refused("cannot be injected from here", "--faults", "clock");
    refused("for servers that sentinels watch over", "--faults", "failover");
    refused("a run may last", "--duration", "9h");
    refused("the number of clients must be from 2 to 64", "--clients", "1");
    refused("a run must last at least two leases", "--lease", "1m");
  }

  /** Told before the run, and not after it. */
  @Test
  void fileThatCannotBeWritten_isToldAtOnce() {
    Job job = processes.holdfast(
        "verify",
        "--store",
        "sqlite:unwritten.db",
        "--duration",
        "1h",
        "--history",
        "no/such/folder");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
  }

  @Test
  void noFaults_proveNothing() {
    Job job = verify("sqlite:none.db", "--duration", "2s", "--lease", "500ms", "--faults", "none");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(3);
    assertThat(job.stdout()).contains("INCONCLUSIVE: no faults were injected");
  }

  private void refused(String why, String... options) {
    Job job = processes.holdfast(
        Stream.concat(Stream.of("verify", "--store", "sqlite:refused.db"), Arrays.stream(options))
            .toArray(String[]::new));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains(why);
  }

  /** Somebody uses the store, and there is no terminal to ask on. */
  @Test
  void storeOfOthers_isLeftAlone() {
    processes.use("sqlite");
    String work = processes.script("work", "echo $$ >pid", "until [ -e go ]; do sleep 0.05; done");
    Job other = processes.holdfast("run", "jobs", work);
    assertThat(processes.pid("pid")).isPositive();
    Job job = processes.holdfast("verify", "--duration", "5s");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains("the store has other locks (1 were seen)").contains("--yes");
    processes.touch("go");
    assertThat(other.exitCode()).isZero();
  }

  /** A table that takes no row: nobody ever gets a lock, and that is not "nothing was broken". */
  @Test
  void noGrants_proveNothing() {
    var server = SqlKind.MARIADB.shared();
    server.execute(
        "CREATE TABLE IF NOT EXISTS holdfast_verify_textbook (name varchar(200) PRIMARY KEY, ends timestamp(6) NOT NULL,"
            + " CHECK (name = ''))");
    Job job = verify(
        server.storeUri(),
        "--protocol",
        "sql-by-name",
        "--duration",
        "2s",
        "--lease",
        "500ms",
        "--faults",
        "none");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(3);
    assertThat(job.stdout()).contains("INCONCLUSIVE: nobody ever got a lock");
  }
}
