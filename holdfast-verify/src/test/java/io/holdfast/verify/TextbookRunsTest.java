// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two runs on one store: the one that ends takes its own away, and leaves the other what it works with. */
@Tag("stores")
class TextbookRunsTest {
  private static final Duration LEASE = Duration.ofSeconds(5);

  @Test
  void onADatabase_theEndOfOneRun_leavesTheOtherItsTable() throws Exception {
    String uri = SqlKind.POSTGRESQL.shared().storeUri("holdfast.prefix=a_", "holdfast.schema=b");
    theEndOfOneRun_leavesTheOther(Protocol.SQL_NO_EXPIRY, uri);
  }

  @Test
  void onZooKeeper_theEndOfOneRun_leavesTheOtherItsRoot() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      theEndOfOneRun_leavesTheOther(
          Protocol.ZOOKEEPER_NO_SESSION, "zookeeper://" + server.address());
    }
  }

  private static void theEndOfOneRun_leavesTheOther(Protocol protocol, String uri)
      throws Exception {
    try (Locker one = protocol.open(uri, LEASE, WatchedStore.Renewals.UNHEARD);
        Locker other = protocol.open(uri, LEASE, WatchedStore.Renewals.UNHEARD)) {
      assertThat(one.acquire("one", Duration.ZERO, () -> {})).isPresent();
      other.acquire("other", Duration.ZERO, () -> {}).orElseThrow().release();
      protocol.cleanUp(uri, List.of("one"));
      assertThat(one.acquire("one", Duration.ZERO, () -> {}))
          .as("it was taken away")
          .isPresent();
      protocol.cleanUp(uri, List.of("one"));
      assertThat(other.acquire("other", Duration.ZERO, () -> {})).isPresent();
      protocol.cleanUp(uri, List.of("other"));
    }
  }
}
