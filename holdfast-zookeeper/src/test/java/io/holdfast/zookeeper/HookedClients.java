// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Clients that count the watchers they are given, their lists, their reads of many nodes, their signs of life, and what
 * they ask a majority; a test can come in before some requests, and have them take no long answers.
 */
@SuppressWarnings("try") // what it extends closes as it does
final class HookedClients extends HandledClients {
  private static final String NOTHING = "/nothing";

  private final Map<String, Set<Watcher>> watchers = new TreeMap<>();
  private final AtomicReference<@Nullable Runnable> beforeMulti = new AtomicReference<>();
  private final AtomicReference<@Nullable Runnable> beforeWatch = new AtomicReference<>();
  private final AtomicReference<@Nullable Runnable> beforeAgreement = new AtomicReference<>();
  private final Map<String, Listed> lists = new ConcurrentHashMap<>();
  private final Map<String, Stat> counts = new ConcurrentHashMap<>();
  private final AtomicBoolean isOld = new AtomicBoolean();
  private final AtomicInteger longestAnswer = new AtomicInteger();
  private final AtomicReference<KeeperException.@Nullable Code> nextMulti = new AtomicReference<>();
  private final AtomicReference<KeeperException.@Nullable Code> nextAgreement =
      new AtomicReference<>();
  private final AtomicInteger listed = new AtomicInteger();
  private final AtomicInteger multis = new AtomicInteger();
  private final AtomicInteger agreements = new AtomicInteger();
  private final AtomicInteger signs = new AtomicInteger();
  private final AtomicInteger signsAnswered = new AtomicInteger();

  /** What a folder had in it. */
  private record Listed(List<String> names, Stat stat) {}

  private HookedClients(ZooKeeperAddress address) {
    super(address);
  }

  static HookedClients at(String uri) {
    return new HookedClients(new ZooKeeperAddress(StoreAddress.parse(uri)));
  }

  ZooKeeperStore store(String uri) {
    return ZooKeeperStore.at(StoreAddress.parse(uri), address, this);
  }

  /** Runs it before the next multi. */
  void beforeMulti(Runnable what) {
    beforeMulti.set(what);
  }

  /** Runs it before the next watch is set. */
  void beforeWatch(Runnable what) {
    beforeWatch.set(what);
  }

  /** Runs it before a majority is next asked for its agreement. */
  void beforeAgreement(Runnable what) {
    beforeAgreement.set(what);
  }

  /**
   * Folders are counted and listed as they were before, until a majority is asked: what a leader answers that has not applied
   * yet what its followers have.
   */
  void answerOldUntilAgreed() {
    isOld.set(true);
  }

  /** Handles that are made from now on take no longer answers: {@code jute.maxbuffer}. */
  void longestAnswer(int bytes) {
    longestAnswer.set(bytes);
  }

  /** The next multi is not sent: this is what becomes of it. */
  void nextMultiIs(KeeperException.Code code) {
    nextMulti.set(code);
  }

  /** The next request for the agreement of a majority is not sent: this is what becomes of it. */
  void nextAgreementIs(KeeperException.Code code) {
    nextAgreement.set(code);
  }

  /** How many lists were asked for. */
  int lists() {
    return listed.get();
  }

  /** How many multis were asked for. */
  int multis() {
    return multis.get();
  }

  /** How often a majority was asked for nothing but its agreement. */
  int agreements() {
    return agreements.get();
  }

  /** How many signs of life were sent. */
  int signs() {
    return signs.get();
  }

  /** How many of them were answered. */
  int signsAnswered() {
    return signsAnswered.get();
  }

  /** How many watchers each node was watched with. */
  synchronized List<Integer> watchers() {
    List<Integer> counts = new ArrayList<>();
    watchers.values().forEach(each -> counts.add(each.size()));
    return counts;
  }

  private synchronized void watched(String path, Watcher watcher) {
    watchers
        .computeIfAbsent(path, first -> Collections.newSetFromMap(new IdentityHashMap<>()))
        .add(watcher);
  }

  private static void run(AtomicReference<@Nullable Runnable> hook) {
    Runnable what = hook.getAndSet(null);
    if (what != null) {
      what.run();
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
    if (longestAnswer.get() != 0) {
      config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(longestAnswer.get()));
    }
    return new ZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, config) {
      @Override
      public void getData(
          String path, @Nullable Watcher each, AsyncCallback.DataCallback callback, Object ctx) {
        if (each != null) {
          watched(path, each);
          run(beforeWatch);
        }
        super.getData(path, each, callback, ctx);
      }

      @Override
      public void getChildren(
          String path, boolean watch, AsyncCallback.Children2Callback callback, Object ctx) {
        listed.incrementAndGet();
        boolean asBefore = isOld.get();
        super.getChildren(
            path,
            watch,
            (rc, asked, same, names, stat) -> {
              Listed before = asBefore ? lists.get(path) : null;
              if (before != null) {
                callback.processResult(0, asked, same, before.names(), before.stat());
                return;
              }
              if (names != null && stat != null) {
                lists.put(path, new Listed(names, stat));
              }
              callback.processResult(rc, asked, same, names, stat);
            },
            ctx);
      }

      @Override
      public void multi(Iterable<Op> ops, AsyncCallback.MultiCallback callback, Object ctx) {
        run(beforeMulti);
        multis.incrementAndGet();
        KeeperException.Code instead = nextMulti.getAndSet(null);
        if (instead == null) {
          super.multi(ops, callback, ctx);
        } else {
          callback.processResult(instead.intValue(), null, ctx, null);
        }
      }

      @Override
      public void exists(
          String path, boolean watch, AsyncCallback.StatCallback callback, Object ctx) {
        if (!path.endsWith(NOTHING)) {
          boolean asBefore = isOld.get();
          super.exists(
              path,
              watch,
              (rc, asked, same, stat) -> {
                Stat before = asBefore ? counts.get(path) : null;
                if (before != null) {
                  callback.processResult(0, asked, same, before);
                  return;
                }
                if (stat != null) {
                  counts.put(path, stat);
                }
                callback.processResult(rc, asked, same, stat);
              },
              ctx);
          return;
        }
        signs.incrementAndGet();
        super.exists(
            path,
            watch,
            (rc, asked, same, stat) -> {
              callback.processResult(rc, asked, same, stat);
              signsAnswered.incrementAndGet();
            },
            ctx);
      }

      @Override
      public void delete(
          String path, int version, AsyncCallback.VoidCallback callback, Object ctx) {
        if (path.endsWith(NOTHING)) {
          run(beforeAgreement);
          agreements.incrementAndGet();
          isOld.set(false);
          KeeperException.Code instead = nextAgreement.getAndSet(null);
          if (instead != null) {
            callback.processResult(instead.intValue(), path, ctx);
            return;
          }
        }
        super.delete(path, version, callback, ctx);
      }
    };
  }
}
