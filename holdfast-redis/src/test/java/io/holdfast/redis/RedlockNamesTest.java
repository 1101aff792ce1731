// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three nodes, whose names lead to other servers than before. */
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
    String uri = "redlock://"
        + names.stream()
            .map(each -> each.uri().substring("redis://".length()))
            .collect(Collectors.joining(","))
        + "?holdfast.max-lease=" + RULE.maxLease().toMillis() + "ms";
    StoreAddress address = StoreAddress.parse(uri);
    client = Holdfast.builder()
        .store(RedlockStore.at(address, new RedlockAddress(address), RULE))
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

  private void awaitRefused(int name) {
    int before = names.get(name).count("redlock_check");
    Await.until(
        "it is asked who it is, and again",
        () -> names.get(name).count("redlock_check") >= before + 2);
  }

  /** A name that leads to another node's server has no vote there; when it leads to its own again, it has. */
  @Test
  void nameThatLeadsToAnothersServer_hasNoVote() {
    connect();
    Await.until("all are there", this::isGranted);
    lead(1, 0);
    awaitRefused(1);
    nodes.server(2).kill();
    // one server is left, under two names
    assertThatThrownBy(() -> client.lock("x", SHORT).tryAcquire().isPresent())
        .isInstanceOf(HoldfastException.class)
        .hasStackTraceContaining("there is no majority");
    lead(1, 1);
    Await.until("two of three vote", this::isGranted);
  }

  /** A node that led to another's server when it was first reached is asked again, until it does not. */
  @Test
  void nameThatLedAstrayAtFirst_isAskedAgain() {
    names.get(1).cut();
    connect();
    lead(1, 0);
    awaitRefused(1);
    lead(1, 1);
    nodes.server(2).kill();
    Await.until("two of three vote", this::isGranted);
  }

  /** The name that led astray is connected, and the one whose server it is comes later: both find their own. */
  @Test
  void nameThatLedAstray_letsTheOtherIn() {
    names.get(0).cut();
    names.get(1).leadTo(nodes.server(0).port());
    connect();
    Await.until("the other two vote", this::isGranted);
    names.get(1).leadTo(nodes.server(1).port());
    names.get(0).mend();
    nodes.server(2).kill();
    Await.until("two of three vote", this::isGranted);
  }

  /** Two names change places: both are used again. */
  @Test
  void namesThatChangePlaces_areBothUsed() {
    connect();
    Await.until("all are there", this::isGranted);
    names.get(0).leadTo(nodes.server(1).port());
    lead(1, 0);
    lead(0, 1);
    nodes.server(2).kill();
    Await.until("two of three vote", this::isGranted);
  }
}
