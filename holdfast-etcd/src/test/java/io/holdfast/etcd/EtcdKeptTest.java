// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that is to be kept after its hold takes a look, a lease and a transaction; others may come between. */
@Tag("stores")
class EtcdKeptTest {
  private final String prefix = EtcdUnderTest.nextPrefix();
  private final EtcdOperator operator = new EtcdOperator(prefix);
  private final Calls calls = new Calls();
  private final Client client = EtcdUnderTest.client().interceptor(calls).build();
  private final Holdfast holdfast = Holdfast.builder()
      .store(EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build()))
      .build();

  @AfterEach
  void close() {
    holdfast.close();
    client.close();
    operator.close();
  }

  /** What an operator has taken away is not made anew: the lock is free, and the release says that it was not ours. */
  @Test
  void keyThatIsDeletedMeanwhile_isNotMadeAnew() throws Exception {
    LockOptions kept = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(60))
        .holdAtLeast(Duration.ofSeconds(50))
        .build();
    Hold hold = holdfast.lock("job", kept).acquire();
    CompletableFuture<Void> deleted = new CompletableFuture<>();
    calls.during("LeaseGrant", () -> {
      operator.deleteAll();
      deleted.complete(null);
    });
    assertThat(hold.release()).isFalse();
    assertThat(deleted).isDone();
    assertThat(operator.all().getKvs()).isEmpty();
  }
}
