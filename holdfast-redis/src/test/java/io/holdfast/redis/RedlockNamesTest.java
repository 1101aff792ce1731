// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Three nodes, whose names lead to other servers than before. Without a majority nothing confirms the end of a request; on a
 * machine that stands still its lease may be over before there is one again.
 */
@Tag("stores")
@MayWarn("the store did not confirm its end")
class RedlockNamesTest {
  private static final RedlockRule RULE =
      new RedlockRule(3, Duration.ofSeconds(3), RedlockRule.REACH);
  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();

  private final RedlockNodes nodes = new RedlockNodes(RULE);
  private final List<RespProxy> names = new ArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private Holdfast client;

  @BeforeEach
  void name() {
    for (int i = 0; i < RULE.nodes(); i++) {
      names.add(new RespProxy(nodes.server(i).port()));
    }
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    for (RespProxy each : names) {
      each.close();
    }
    nodes.close();
  }

  private void connect() {
    client = Holdfast.builder()
        .store(nodes.store(names.stream().map(RespProxy::port)))
        .requestTimeout(Duration.ofMillis(500))
        .build();
  }

  /** From now on a name leads to the server of a node, from its next connection on, which is now. */
  private void lead(int name, int node) {
    RespProxy proxy = names.get(name);
    proxy.leadTo(nodes.server(node).port());
    proxy.cut();
    proxy.mend();
  }

  private boolean isGranted() {
    try {
      return client.lock("x", SHORT).tryAcquire().map(Hold::release).orElse(false);
    } catch (HoldfastException e) {
      // there is no majority
      return false;
    }
  }

  /** Waits until a name's votes are asked for, which leads to the server of another one. */
  private void awaitAsked(int name) {
    int before = names.get(name).count("redlock_attempt");
    Await.until("it is asked for its vote", () -> {
      assertThat(isGranted()).as("one server has two votes").isFalse();
      return names.get(name).count("redlock_attempt") > before;
    });
    assertThat(isGranted()).as("one server has two votes").isFalse();
  }

  /** All names are right again, but connections go on where they began; without the third server, both have to be. */
  private void assertRecovers() throws Exception {
    assertThat(client.lock("x", SHORT).acquire(Duration.ofMinutes(1)).release()).isTrue();
  }

  /** A name that leads to another node's server gives it no second vote; when it leads to its own again, that is found. */
  @Test
  @Warns("are one and the same server, which has one vote")
  void nameThatLeadsToAnothersServer_givesItNoSecondVote() throws Exception {
    connect();
    awaitAll();
    lead(1, 0);
    nodes.server(2).kill();
    awaitAsked(1);
    names.get(1).leadTo(nodes.server(1).port());
    assertRecovers();
  }

  /** So it was from the start: a majority of servers is there, and the third is found when its name leads to it. */
  @Test
  @Warns("are one and the same server, which has one vote")
  void nameThatLedAstrayAtFirst_isFound() throws Exception {
    names.get(1).leadTo(nodes.server(0).port());
    connect();
    Await.until("the other two vote", this::isGranted);
    nodes.server(2).kill();
    awaitAsked(1);
    names.get(1).leadTo(nodes.server(1).port());
    assertRecovers();
  }

  /** Two names change places, the second one a while after the first: its connection goes on at its former server. */
  @Test
  @Warns("are one and the same server, which has one vote")
  void namesThatChangePlaces_areBothUsed() throws Exception {
    connect();
    awaitAll();
    lead(0, 1);
    nodes.server(2).kill();
    awaitAsked(0);
    names.get(1).leadTo(nodes.server(0).port());
    assertRecovers();
  }

  /** One server of three does not keep a lock: the other two could give it to another client. */
  @Test
  @Warns({"are one and the same server, which has one vote", "hold lost: LEASE_ENDED"})
  void nameThatLeadsToAnothersServer_renewsNothing() throws Exception {
    connect();
    awaitAll();
    Hold hold = client.lock("y", SHORT).acquire(Duration.ofMinutes(1));
    nodes.server(2).kill();
    lead(1, 0);
    Await.until("it is lost", () -> hold.state() == HoldState.LOST);
    awaitAsked(1);
  }

  private void awaitAll() {
    Await.until(
        "all are there",
        () -> isGranted() && names.stream().allMatch(each -> each.count("redlock_attempt") > 0));
  }
}
