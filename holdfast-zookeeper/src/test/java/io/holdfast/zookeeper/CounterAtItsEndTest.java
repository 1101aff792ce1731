// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
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
    count(folder, children);
  }

  private void count(String where, int children) {
    server.node(where).stat.setCversion(children);
  }

  /** What the doctor says of counts. */
  private static List<Finding> counts(StoreByHand asked) {
    List<Finding> all = Await.value(asked.store.diagnose().toCompletableFuture());
    // all others are there, whatever has become of this look
    assertThat(all).extracting(Finding::subject).contains("root", "permissions", "access");
    return all.stream().filter(each -> each.subject().equals("claims")).toList();
  }

  /** So many names of locks whose folders are in one bucket. */
  private static List<String> inOneBucket(int many) {
    ZooKeeperPaths paths = new ZooKeeperPaths("/counted");
    String bucket = paths.bucket(LockKey.of(LOCK));
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "lock " + i)
        .filter(name -> paths.bucket(LockKey.of(name)).equals(bucket))
        .limit(many)
        .toList();
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

  /** Half of the count is left when it is first told, which is time enough to do something about it. */
  @Test
  void doctor_namesTheLock_fromHalfOfTheCountOn() {
    try (StoreByHand client = new StoreByHand("1", HookedClients.at(uri).store(uri))) {
      Claim claim = client.claim(LOCK);
      client.granted(claim);
      client.granted(client.claim("b"));
      count((1 << 30) - 1);
      assertThat(counts(client)).isEmpty();
      count(1 << 30);
      assertThat(counts(client)).singleElement().satisfies(found -> {
        assertThat(found.level()).isEqualTo(Level.WARNING);
        assertThat(found.message()).contains(" 1072693248 ", folder, "(lock a)");
        assertThat(found.advice()).contains("delete the folder");
      });
      // of an empty folder, too
      client.end(claim, Duration.ZERO);
      assertThat(counts(client)).hasSize(1);
    }
  }

  /** What is said to be left can still be had, and no more. */
  @Test
  void doctor_countsWhatIsLeft() throws Exception {
    int last = Integer.MAX_VALUE - (1 << 20);
    try (StoreByHand client = new StoreByHand("1", HookedClients.at(uri).store(uri))) {
      Claim first = client.claim(LOCK);
      client.granted(first);
      client.end(first, Duration.ZERO);
      count(last);
      assertThat(counts(client)).singleElement().satisfies(found -> {
        assertThat(found.level()).isEqualTo(Level.WARNING);
        assertThat(found.message()).contains(" 1 ");
      });
      client.granted(client.claim(LOCK));
      assertThat(counts(client)).singleElement().satisfies(found -> {
        assertThat(found.level()).isEqualTo(Level.PROBLEM);
        assertThat(found.message()).contains("no more claims", folder);
      });
      assertThatThrownBy(() -> client.attempt(client.claim(LOCK)))
          .rootCause()
          .hasMessageContaining(folder);
    }
  }

  /** All folders are looked at, in requests whose answers the client takes; ten are named. */
  @Test
  void doctor_looksAtAllFolders() {
    HookedClients little = HookedClients.at(uri);
    little.longestAnswer(2_000);
    HookedClients less = HookedClients.at(uri);
    less.longestAnswer(1_500);
    try (StoreByHand client = new StoreByHand("1", little.store(uri));
        StoreByHand other = new StoreByHand("2", less.store(uri))) {
      List<String> names = inOneBucket(12);
      for (String name : names) {
        client.granted(client.claim(name));
        count(new ZooKeeperPaths("/counted").folder(LockKey.of(name)), 1 << 30);
      }
      String last = names.get(names.size() - 1);
      count(new ZooKeeperPaths("/counted").folder(LockKey.of(last)), (1 << 30) + 1);
      int before = little.multis();
      List<Finding> found = counts(client);
      assertThat(little.multis() - before).isEqualTo(names.size());
      assertThat(found).hasSize(11);
      assertThat(found.get(0).message()).contains(" 1072693247 ", "(lock " + last + ")");
      assertThat(found.get(10).message()).startsWith("2 more");
      // a list that is too long would break the connection
      assertThat(counts(other)).singleElement().satisfies(unseen -> {
        assertThat(unseen.level()).isEqualTo(Level.WARNING);
        assertThat(unseen.message()).contains("jute.maxbuffer");
      });
      assertThat(other.told).doesNotContain("disturbed");
    }
  }

  /** A look without an answer is said to have none, in the time of a request; all else that the doctor sees is told. */
  @Test
  void doctor_thatCannotLook_saysSo() {
    HookedClients clients = HookedClients.at(uri);
    try (StoreByHand client = new StoreByHand("1", clients.store(uri))) {
      client.granted(client.claim(LOCK));
      int tasks = client.waiting();
      clients.nextMultiIs(KeeperException.Code.CONNECTIONLOSS);
      assertUnseen(counts(client), "the connection to ZooKeeper broke");
      clients.beforeMulti(() -> client.run(2_000_000_000L));
      assertUnseen(counts(client), "more than 2 s");
      assertThat(counts(client)).isEmpty();
      assertThat(client.waiting()).isEqualTo(tasks);
    }
  }

  private static void assertUnseen(List<Finding> found, String why) {
    assertThat(found).singleElement().satisfies(unseen -> {
      assertThat(unseen.level()).isEqualTo(Level.WARNING);
      assertThat(unseen.message()).contains("could not read", why);
    });
  }
}
