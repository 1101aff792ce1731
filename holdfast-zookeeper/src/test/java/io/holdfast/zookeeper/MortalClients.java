// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Clients that can die, within a JVM that lives on: their connection goes, and nobody tells the server that the session
 * is over. A store that still has claims when it is closed dies so, as its process would.
 */
@SuppressWarnings("try") // what it extends closes as it does
final class MortalClients extends HandledClients {
  private volatile boolean dying;

  private MortalClients(ZooKeeperAddress address) {
    super(address);
  }

  static LockStore store(StoreAddress address) {
    ZooKeeperAddress read = new ZooKeeperAddress(address);
    MortalClients clients = new MortalClients(read);
    LockStore store = ZooKeeperStore.at(address, read, clients);
    return (LockStore) Proxy.newProxyInstance(
        LockStore.class.getClassLoader(),
        new Class<?>[] {LockStore.class},
        (proxy, method, args) -> {
          if (method.getName().equals("close")) {
            clients.dying = hasClaims(store);
          }
          try {
            return method.invoke(store, args);
          } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
          }
        });
  }

  private static boolean hasClaims(LockStore store) {
    try {
      return !store.own().toCompletableFuture().join().isEmpty();
    } catch (RuntimeException e) {
      // never started, or not connected
      return false;
    }
  }

  @Override
  public ZooKeeper newZooKeeper(
      String servers,
      int sessionTimeout,
      Watcher watcher,
      boolean canBeReadOnly,
      ZKClientConfig config)
      throws IOException {
    return new ZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, config) {
      @Override
      public synchronized void close() throws InterruptedException {
        if (dying) {
          cnxn.disconnect();
        }
        super.close();
      }

      @Override
      public boolean close(int waitMillis) throws InterruptedException {
        if (dying) {
          cnxn.disconnect();
        }
        return super.close(waitMillis);
      }
    };
  }
}
