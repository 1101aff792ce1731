// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Clients;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example in the documentation of the store on the application's own client. */
@Tag("stores")
class ExamplesTest {
  @Test
  void store() throws InterruptedException {
    try (Client client = EtcdUnderTest.client().build()) {
      Holdfast holdfast = Holdfast.builder()
          .store(EtcdStore.using(client))
          .requestTimeout(Clients.REQUEST_TIMEOUT)
          .build();
      try (Hold hold = holdfast.lock("example").acquire()) {
        assertThat(hold.isValid()).isTrue();
      }
      holdfast.close();
      EtcdSettings settings = EtcdSettings.builder().prefix("jobs/").build();
      EtcdStore store = EtcdStore.using(client, settings);
      store.close();
    }
  }
}
