// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.AcquireUnknownException;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A node that was to take over a slot, and never did: it is connected to for as long as it is asked. The clients are
 * impatient, so that they leave it soon; what a slow machine does not answer them in time is asked again.
 */
@Tag("stores")
class AskedNodeTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final Pattern OURS = Pattern.compile("id=(\\d+) .* name=holdfast ");
  private static final Pattern LOOKS = Pattern.compile("cmdstat_cluster\\|slots:calls=(\\d+)");

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  /** Makes a client that leaves a node soon; the first contact takes its time on a slow machine. */
  private Holdfast client(ClusterServers servers) {
    Holdfast client = Await.present("a connection", () -> {
      try {
        return Optional.of(Holdfast.builder()
            .store(servers.uri())
            .requestTimeout(Duration.ofSeconds(1))
            .build());
      } catch (StoreUnavailableException e) {
        return Optional.empty();
      }
    });
    open.add(client);
    return client;
  }

  @Test
  void moveThatIsCalledOff_leavesNoConnection() throws Exception {
    ClusterServers servers = new ClusterServers(Duration.ofMinutes(1));
    open.add(servers);
    RedisServer from = servers.primary("x");
    RedisServer to = servers.another();
    Hold hold = client(servers).lock("x", LONG).acquire();
    Holdfast other = client(servers);
    // all three keys of the lock, or the cluster would put requests off; a client that waits would ask by itself
    from.call(redis -> redis.zadd("holdfast:{x}:q", 1, "nobody-1"));
    from.call(redis -> redis.hset("holdfast:{x}:w", "nobody-1", "9007199254740991 1 nobody"));
    assertThat(ours(to)).isEmpty();
    servers.beginMove("x", from, to);
    servers.moveKeys("x", from, to);
    assertBusy(other);
    List<String> asked = ours(to);
    assertThat(asked).isNotEmpty();
    // while the move lasts, the connections of those who ask stay, however often the map is looked at
    int looks = looks(servers);
    Await.until("both have looked at the map", () -> {
      assertKnown(other, hold.token());
      return looks(servers) >= looks + 6;
    });
    assertThat(ours(to)).containsAll(asked);
    servers.callOffMove("x", from, to);
    Await.until("nobody is connected to it any more", () -> ours(to).isEmpty());
    assertBusy(other);
    Await.until("it can be released", () -> releases(hold));
  }

  private static void assertBusy(Holdfast client) {
    Optional<Hold> found = Await.present("an answer", () -> {
      try {
        return Optional.of(client.lock("x", LONG).tryAcquire());
      } catch (AcquireUnknownException | StoreUnavailableException e) {
        return Optional.empty();
      }
    });
    assertThat(found).isEmpty();
  }

  private static void assertKnown(Holdfast client, long token) {
    Optional<LockInfo> found = Await.present("an answer", () -> {
      try {
        return Optional.of(client.admin().inspect("x"));
      } catch (StoreUnavailableException e) {
        return Optional.empty();
      }
    });
    assertThat(found.map(LockInfo::token)).contains(token);
  }

  private static boolean releases(Hold hold) {
    try {
      return hold.release();
    } catch (StoreUnavailableException e) {
      return hold.state() == HoldState.RELEASED;
    }
  }

  /** Returns the numbers of our clients' connections at a node. */
  private static List<String> ours(RedisServer node) {
    String all = node.call(redis -> redis.clientList());
    return OURS.matcher(all).results().map(each -> each.group(1)).toList();
  }

  /** Returns how often the nodes were asked who has which slots. */
  private static int looks(ClusterServers servers) {
    int sum = 0;
    for (RedisServer each : servers.servers()) {
      Matcher found = LOOKS.matcher(each.call(redis -> redis.info("commandstats")));
      sum += found.find() ? Integer.parseInt(found.group(1)) : 0;
    }
    return sum;
  }
}
