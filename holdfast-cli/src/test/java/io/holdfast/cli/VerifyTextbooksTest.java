// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import io.holdfast.verify.Invariant;
import io.holdfast.verify.Protocol;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code holdfast verify --protocol}: each of the textbook's locks is caught with what it is known for, and where it needs
 * servers of its own for that, ours passes on them as well.
 */
@Tag("all")
class VerifyTextbooksTest {
  /** How many seeds a lock from the textbooks may take to be caught. */
  private static final int SEEDS = 5;

  /** The seed that has caught each. */
  private static final Map<Protocol, Integer> CAUGHT = new EnumMap<>(Protocol.class);

  @RegisterExtension
  final Processes processes = new Processes();

  static Stream<Protocol> textbooks() {
    return Arrays.stream(Protocol.values()).filter(each -> each.breaks().isPresent());
  }

  @AfterAll
  static void printTable() {
    System.out.println("protocol, broken, first in seed");
    CAUGHT.forEach((protocol, seed) -> System.out.println(
        protocol.label() + ", " + protocol.breaks().orElseThrow() + ", " + seed));
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
      assertThat(job.stdout())
          .contains(protocol.text(), "Which process held the lock when:", "  <- ")
          .endsWith("What to do instead: docs/schemes.md#" + protocol.label() + "\n");
      assertThat(processes.read("page.html"))
          .contains("\"outcome\":\"BROKEN\"", "\"drawn\":[{\"from\":")
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

  /** As everywhere else, by the driver that the command brings along. */
  @Test
  void sqlTextbook_onMySql() {
    Place place = Place.on(SqlKind.MYSQL.shared().storeUri(), "pause");
    int seed = 0;
    Job job = verify(Protocol.SQL_NO_OWNER, place.uri, place, seed);
    while (!isBroken(job, Protocol.SQL_NO_OWNER)) {
      assertThat(seed).as("a seed that does not catch it: %s", job).isLessThan(SEEDS);
      job = verify(Protocol.SQL_NO_OWNER, place.uri, place, ++seed);
    }
  }

  private Job verify(Protocol protocol, String uri, Place place, int seed) {
    return processes.verify(
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
    return Pattern.compile("BROKEN: .*" + protocol.breaks().orElseThrow())
        .matcher(job.stdout())
        .find();
  }

  /** What a lock from the textbooks needs to show its flaw; and where ours is to pass then, if not in {@link VerifyCommandTest}. */
  private record Place(
      String uri, String ours, String faults, String lease, String duration, Runnable end)
      implements AutoCloseable {
    static Place of(Protocol protocol) {
      // a lock that nothing ends is lost with a holder that is killed; most others need one that is late
      String faults = protocol.breaks().filter(Invariant.I5::equals).isPresent() ? "kill" : "pause";
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
          String uri = protocol.fits("redis:")
              ? RedisTopology.SINGLE.uri()
              : SqlKind.POSTGRESQL.shared().storeUri();
          yield on(uri, faults);
        }
      };
    }

    static Place on(String uri, String faults) {
      return new Place(uri, "", faults, "600ms", "6s", () -> {});
    }

    @Override
    public void close() {
      end.run();
    }
  }
}
