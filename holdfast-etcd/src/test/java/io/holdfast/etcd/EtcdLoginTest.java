// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.LazyServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Servers that require a login: who is let in, what the others are told, and logins that end while locks are in use. */
@Tag("stores")
class EtcdLoginTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  @RegisterExtension
  static final LazyServer<EtcdServer> SERVER = new LazyServer<>(EtcdLoginTest::start);

  private static EtcdServer start() {
    EtcdServer server = EtcdServer.with();
    EtcdUsers.make(server);
    return server;
  }

  private static Holdfast connect(EtcdServer to) {
    return Holdfast.builder()
        .store(EtcdUsers.uri(to, "worker", "worker"))
        // a release is repeated for as long as that: a server that was restarted is not ready at once
        .requestTimeout(Duration.ofSeconds(15))
        .storeRetryFor(Duration.ofMinutes(2))
        .build();
  }

  /** All that the locks need is readwrite on their prefix. */
  @Test
  void userOfThePrefix_hasLocks() throws Exception {
    try (Holdfast one = connect(SERVER.get());
        Holdfast other = connect(SERVER.get())) {
      Hold hold = one.lock("mine", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("mine", LONG).acquireAsync();
      Await.until(
          "somebody waits",
          () -> one.admin().inspect("mine").orElseThrow().waiters().known() == 1);
      assertThat(one.admin().list("")).hasSize(1);
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  /** What only a person can put right is said at once, with what to do, and without the password. */
  @Test
  void whoIsNotLetIn_isTold() {
    assertRefused(
        EtcdUsers.uri(SERVER.get(), "worker", "wrong-secret"),
        "correct user and password in the address");
    assertRefused(
        EtcdUsers.uri(SERVER.get(), "nobody", "secret"),
        "correct user and password in the address");
    assertRefused(SERVER.get().uri(), "USER:PASSWORD@ before the hosts");
    assertRefused(
        EtcdUsers.uri(SERVER.get(), "guest", "guest"), "readwrite on the keys that begin with");
    assertRefused(
        EtcdUsers.uri(SERVER.get(), "worker", "worker") + "?holdfast.prefix=other/",
        "readwrite on the keys that begin with");
  }

  private static void assertRefused(String uri, String words) {
    assertThatThrownBy(() -> {
          try (Holdfast client = Holdfast.connect(uri)) {
            client.lock("x").tryAcquire().ifPresent(Hold::close);
          }
        })
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.getMessage()).contains(words).doesNotContain("secret");
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
        });
  }

  /** A server's simple tokens are gone when it was restarted: holds and waiters go on with a new login. */
  @Test
  void restart_whichForgetsLogins_isSurvived() throws Exception {
    try (Holdfast one = connect(SERVER.get());
        Holdfast other = connect(SERVER.get())) {
      Hold hold = one.lock("restarted", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("restarted", LONG).acquireAsync();
      Await.until(
          "somebody waits",
          () -> one.admin().inspect("restarted").orElseThrow().waiters().known() == 1);
      SERVER.get().restart();
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  /** Tokens that end after two seconds, whatever is done with them: nobody notices. */
  @Test
  void tokensThatEnd_areReplaced(@TempDir Path folder) throws Exception {
    Path secret = folder.resolve("secret");
    Files.writeString(secret, "0123456789abcdef0123456789abcdef");
    try (EtcdServer brief =
        EtcdServer.with("--auth-token=jwt,priv-key=" + secret + ",sign-method=HS256,ttl=2s")) {
      EtcdUsers.make(brief);
      try (Holdfast one = connect(brief);
          Holdfast other = connect(brief)) {
        LockOptions renewed =
            LockOptions.builder().leaseFor(Duration.ofSeconds(8)).build();
        Hold hold = one.lock("brief", renewed).acquire();
        CompletableFuture<Hold> waiter = other.lock("brief", renewed).acquireAsync();
        long begin = Ticker.system().nanos();
        Await.until(
            "its lease would have ended twice",
            () -> Ticker.system().nanos() - begin > Duration.ofSeconds(17).toNanos());
        assertThat(hold.isValid()).isTrue();
        assertThat(waiter).isNotDone();
        assertThat(hold.release()).isTrue();
        assertThat(Await.value(waiter).release()).isTrue();
      }
    }
  }
}
