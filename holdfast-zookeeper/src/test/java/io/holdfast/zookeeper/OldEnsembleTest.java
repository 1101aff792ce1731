// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An ensemble that has had more than eight million leaders: the numbers of its transactions do not fit into a token. */
@Timeout(120)
@Tag("stores")
class OldEnsembleTest {
  private static final long FIRST_TOO_MANY = 1L << 23;

  @Test
  void tokensThatDoNotFit_areRefused() throws Exception {
    try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.afterLeaders(FIRST_TOO_MANY - 2)) {
      String uri = "zookeeper://" + ensemble.addresses() + "/old";
      LockStore store = ZooKeeperStore.at(StoreAddress.parse(uri));
      try (Holdfast holdfast = Holdfast.builder().store(store).build();
          Hold hold = holdfast.lock("a").acquire()) {
        // the last leader whose numbers fit
        assertEquals(FIRST_TOO_MANY - 1, hold.token() >> 8 >> 32);
        List<Finding> found = Await.value(store.diagnose().toCompletableFuture());
        assertTrue(
            found.stream().anyMatch(each -> each.subject().equals("epoch")), found::toString);
      }
      ensemble.restart();
      try (Holdfast holdfast = Holdfast.connect(uri)) {
        StoreUnavailableException refused = assertThrows(
            StoreUnavailableException.class, () -> holdfast.lock("a").acquire().close());
        assertTrue(String.valueOf(refused.getMessage()).contains("too many leaders"));
        assertTrue(holdfast.admin().inspect("a").isEmpty());
      }
    }
  }
}
