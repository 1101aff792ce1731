// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Clients;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server in this JVM, whose count of a folder's children is set as if two thousand million had been there. */
@Timeout(120)
class CounterAtItsEndTest {
  private static final String LOCK = "a";

  private ServerInThisJvm server;
  private String uri;
  private String folder;

  @BeforeEach
  void start(@TempDir Path data) throws Exception {
    server = new ServerInThisJvm(data);
    uri = "zookeeper://" + server.address() + "/counted";
    folder = new ZooKeeperPaths("/counted").folder(LockKey.of(LOCK));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void count(int children) {
    server.node(folder).stat.setCversion(children);
  }

  private void deleteFolder() throws Exception {
    try (CuratorFramework operator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      operator.start();
      operator.delete().deletingChildrenIfNeeded().forPath(folder);
    }
  }

  /** From there on it gives one number to all: of two claims with the same number both would be the first. */
  @Test
  void claimsThatCannotBeCounted_areRefused() throws Exception {
    try (Holdfast first = Clients.connect(uri);
        Holdfast second = Clients.connect(uri)) {
      try (Hold hold = first.lock(LOCK).acquire()) {
        count(Integer.MAX_VALUE - 1);
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> second.lock(LOCK).acquire())
              .isInstanceOfSatisfying(
                  StoreUnavailableException.class,
                  refused -> assertThat(refused.reason()).isEqualTo(Reason.DAMAGED))
              .hasMessageContaining(folder);
        }
        assertThat(hold.isValid()).isTrue();
        assertThat(hold.release()).isTrue();
      }
      deleteFolder();
      try (Hold hold = second.lock(LOCK).acquire()) {
        assertThat(hold.isValid()).isTrue();
      }
    }
  }

  /** The sum of what has come and gone has no sign any more: a try that expects a negative number seems to be leaving. */
  @Test
  void tries_expectTheirNumberBeyondHalfOfTheCount() throws Exception {
    try (Holdfast holdfast = Clients.connect(uri);
        Hold before = holdfast.lock(LOCK).acquire()) {
      assertThat(before.release()).isTrue();
      count((1 << 30) + 5);
      try (Hold hold = holdfast.lock(LOCK).tryAcquire().orElseThrow()) {
        String name = server.node(folder).getChildren().iterator().next();
        assertThat(LockNode.parse(name).orElseThrow().isLeaving()).as(name).isFalse();
        assertThat(hold.isValid()).isTrue();
      }
    }
  }
}
