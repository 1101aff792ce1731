// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A try that is the first contact, and that meets no server: when the client is closed, nothing connects any more. */
@Timeout(120)
@Tag("stores")
class FirstTryTest {
  /** ZooKeeper's client, Curator, and the questions that a store asks by itself. */
  private static final Pattern CONNECTS =
      Pattern.compile("SendThread|EventThread|Curator|holdfast-zookeeper");

  /** ZooKeeper's client gives up a silent server after the time of a session, which is as short as this. */
  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofSeconds(1)).build();

  /** What an earlier test has left may still be ending. */
  private final Set<Thread> others = Thread.getAllStackTraces().keySet();

  private void tryAt(int port) {
    try (Holdfast holdfast = Holdfast.builder()
        .store("zookeeper://127.0.0.1:" + port + "/locks?holdfast.longest-lease=1s")
        .requestTimeout(Duration.ofSeconds(1))
        .connectLazily()
        .build()) {
      assertThatThrownBy(() -> holdfast.lock("job", SHORT).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
    }
    Await.until(
        "no thread is left that could connect",
        () -> Thread.getAllStackTraces().keySet().stream()
            .noneMatch(each ->
                !others.contains(each) && CONNECTS.matcher(each.getName()).find()));
  }

  @Test
  void closedPort() {
    tryAt(ServerProcess.freePort());
  }

  @Test
  void silentServer() throws IOException {
    try (WrongServer silent = WrongServer.silent()) {
      tryAt(silent.port());
      assertThat(silent.connections()).isPositive();
    }
  }
}
