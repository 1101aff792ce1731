// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Curator tells a session of its connection, and what it does not. */
@Timeout(120)
class ZooKeeperSessionTest {
  private static final int SESSION_MILLIS = 20_000;
  private static final int CONNECT_MILLIS = 5_000;

  private final AtomicBoolean fails = new AtomicBoolean(true);
  private final AtomicInteger restored = new AtomicInteger();

  /** Gives no handle when it is asked for the first time, as Curator does when something failed in the background. */
  private final class FailsOnce extends CuratorZookeeperClient {
    private final CuratorFramework real;

    FailsOnce(CuratorFramework real, String address) {
      super(address, SESSION_MILLIS, CONNECT_MILLIS, event -> {}, new RetryOneTime(1));
      this.real = real;
    }

    @Override
    public ZooKeeper getZooKeeper() throws Exception {
      if (fails.getAndSet(false)) {
        throw new IOException("for the test");
      }
      return real.getZookeeperClient().getZooKeeper();
    }

    @Override
    public boolean isConnected() {
      return real.getZookeeperClient().isConnected();
    }
  }

  private final class Counts implements ZooKeeperSession.Listener {
    @Override
    public void disturbed() {}

    @Override
    public void restored(int sessionMillis) {
      restored.incrementAndGet();
    }

    @Override
    public void ended(ZooKeeperSession session, long sessionId) {}
  }

  /** The connection is told once; a session that could not take it then takes it the next time it looks. */
  @Test
  void handleThatWasNotGiven_isAskedForAgain(@TempDir Path data) throws Exception {
    try (ServerInThisJvm server = new ServerInThisJvm(data)) {
      CuratorFramework real = CuratorFrameworkFactory.newClient(
          server.address(), SESSION_MILLIS, CONNECT_MILLIS, new RetryOneTime(1));
      FailsOnce client = new FailsOnce(real, server.address());
      CuratorFramework curator = (CuratorFramework) Proxy.newProxyInstance(
          getClass().getClassLoader(),
          new Class<?>[] {CuratorFramework.class},
          (proxy, method, arguments) -> {
            if (method.getName().equals("getZookeeperClient")) {
              return client;
            }
            try {
              return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
              throw e.getTargetException();
            }
          });
      ZooKeeperSession session =
          new ZooKeeperSession(curator, true, "/nothing", Ticker.system(), new Counts());
      session.start();
      try {
        Await.until("it was told of the connection", () -> !fails.get());
        session.look();
        assertThat(session.link()).isNotNull();
        assertThat(session.first()).isCompleted();
        assertThat(restored.get()).isEqualTo(1);
        session.look();
        assertThat(restored.get()).isEqualTo(1);
      } finally {
        session.close();
      }
    }
  }
}
