// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** What the page shows to a Spring application works: the lock, its options, and the end of the client. */
class LockConfigurationTest {
  @RegisterExtension
  static final LazyServer<ZooKeeperServer> SERVER = new LazyServer<>(ZooKeeperServer::alone);

  private static String store() {
    return "zookeeper://" + SERVER.get().address();
  }

  private static AnnotationConfigApplicationContext started(String store) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("test", Map.of("holdfast.store", store)));
    context.register(LockConfiguration.class);
    context.refresh();
    return context;
  }

  @Test
  void theBean_isALockOfTheStoreWithItsOptions() throws InterruptedException {
    try (AnnotationConfigApplicationContext context = started(store());
        Holdfast other = Clients.connect(store())) {
      DistributedLock invoices = context.getBean(DistributedLock.class);
      try (Hold hold = invoices.acquire()) {
        assertThat(hold.isValid()).isTrue();
        assertThat(other.lock("invoices").tryAcquire()).isEmpty();
        assertThat(other.admin().inspect("invoices").orElseThrow().holder())
            .hasValueSatisfying(holder -> {
              assertThat(holder.client()).isEqualTo("billing");
              assertThat(holder.note()).isEqualTo("monthly invoices");
            });
      }
      assertThat(other.lock("invoices").tryAcquire()).isPresent();
    }
  }

  @Test
  void theEndOfTheContext_closesTheClientAndReleasesItsHolds() throws InterruptedException {
    Holdfast closed;
    Hold hold;
    try (AnnotationConfigApplicationContext context = started(store())) {
      closed = context.getBean(Holdfast.class);
      hold = context.getBean(DistributedLock.class).acquire();
    }
    assertThat(hold.isValid()).isFalse();
    assertThatThrownBy(() -> closed.lock("invoices").tryAcquire())
        .isInstanceOf(IllegalStateException.class);
    try (Holdfast next = Clients.connect(store())) {
      // at once, long before the lease of 20 s
      assertThat(next.lock("invoices").tryAcquire()).isPresent();
    }
  }

  /** On two machines each would lock a file of its own, and both would run. */
  @Test
  void aFile_endsTheStart(@TempDir Path folder) {
    assertRefused("sqlite:" + folder.resolve("locks.db"), "EXCLUDES_MACHINES");
  }

  @Test
  void memory_endsTheStart() {
    assertRefused("memory:", "TOKENS_SURVIVE_RESTART");
  }

  private static void assertRefused(String store, String missing) {
    assertThatThrownBy(() -> started(store))
        .rootCause()
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(missing);
  }
}
