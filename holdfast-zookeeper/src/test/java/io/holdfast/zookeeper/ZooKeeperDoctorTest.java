// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Holdfast;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each finding of the doctor, fired by a server that is so. */
@Timeout(120)
@Tag("stores")
class ZooKeeperDoctorTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/doctor/" + ROOTS.incrementAndGet();

  private static List<Finding> look(String uri) {
    LockStore store = ZooKeeperStore.at(StoreAddress.parse(uri));
    try (Holdfast connected = Holdfast.builder().store(store).build()) {
      assertEquals("ZooKeeper", connected.guarantees().store());
      return Await.value(store.diagnose().toCompletableFuture());
    }
  }

  private static Finding finding(List<Finding> all, String subject) {
    return all.stream()
        .filter(each -> each.subject().equals(subject))
        .findFirst()
        .orElseThrow(() -> new AssertionError(subject + " is not in " + all));
  }

  private static void assertFound(List<Finding> all, Level level, String subject, String part) {
    Finding found = finding(all, subject);
    assertEquals(level, found.level(), found::toString);
    assertTrue(found.message().contains(part), found::toString);
    assertEquals(level != Level.OK, !found.advice().isEmpty(), found::toString);
  }

  /** One server that all may use: nothing is broken, and what weakens a promise is said. */
  @Test
  void oneServer_isAWarning() {
    List<Finding> all = look("zookeeper://" + server.address() + root);
    assertFound(all, Level.OK, "server " + server.address(), server.version() + ", standalone");
    assertFound(all, Level.WARNING, "ensemble", "one server");
    assertFound(all, Level.WARNING, "encryption", "none");
    assertFound(all, Level.WARNING, "access", "every client");
    assertFound(all, Level.OK, "session", "enough for leases of 30 s");
    assertFound(all, Level.OK, "root", root);
    assertFound(all, Level.OK, "permissions", "made and deleted");
    assertTrue(all.stream().noneMatch(each -> each.level() == Level.PROBLEM), all::toString);
  }

  /** One of those in the address is not there. */
  @Test
  void missingServer_isAProblem() {
    String nobody = "127.0.0.1:" + ServerProcess.freePort();
    List<Finding> all = look("zookeeper://" + server.address() + "," + nobody + root);
    assertFound(all, Level.PROBLEM, "server " + nobody, "does not answer");
    assertFound(all, Level.OK, "server " + server.address(), "standalone");
  }

  /** The servers' limits against what the address asks for. */
  @Test
  void limits_areComparedWithTheLeases() {
    try (ZooKeeperServer limited = ZooKeeperServer.alone(
        "tickTime=3000",
        "minSessionTimeout=5000",
        "maxSessionTimeout=33000",
        "4lw.commands.whitelist=srvr,conf")) {
      List<Finding> tight = look("zookeeper://" + limited.address()
          + "/locks?holdfast.tick=1s&holdfast.longest-lease=40s");
      String at = " of " + limited.address();
      assertFound(tight, Level.PROBLEM, "tick" + at, "a tick of 3 s");
      assertFound(tight, Level.PROBLEM, "session limit" + at, "sessions of 33 s at most");
      assertFound(tight, Level.PROBLEM, "session", "a lease of 40 s");
      assertFound(tight, Level.OK, "limits" + at, "stays for 5 s");
      List<Finding> fitting = look("zookeeper://" + limited.address() + "/locks?holdfast.tick=3s");
      assertTrue(
          fitting.stream().noneMatch(each -> each.level() == Level.PROBLEM), fitting::toString);
    }
  }

  /** A root that somebody else made, which may be read only, or filled only. */
  @Test
  void missingPermissions_areProblems() throws Exception {
    makeRoot(ZooDefs.Perms.READ);
    List<Finding> reader = look("zookeeper://" + server.address() + root);
    assertFound(reader, Level.PROBLEM, "permissions", "cannot make nodes below " + root);
    assertFound(reader, Level.OK, "access", "logged in");
    setPermissions(ZooDefs.Perms.READ | ZooDefs.Perms.CREATE);
    List<Finding> filler = look("zookeeper://" + server.address() + root);
    assertFound(filler, Level.PROBLEM, "permissions", "cannot delete nodes below " + root);
    assertFound(filler, Level.WARNING, "access", "every client");
  }

  private void makeRoot(int permissions) throws Exception {
    try (CuratorFramework admin = admin()) {
      admin.create().creatingParentsIfNeeded().forPath(root);
      admin.create().forPath(root + "/format", "1".getBytes(StandardCharsets.UTF_8));
    }
    setPermissions(permissions);
  }

  /** What anybody may do; the administrator may do everything. */
  private void setPermissions(int permissions) throws Exception {
    try (CuratorFramework admin = admin()) {
      admin
          .setACL()
          .withACL(List.of(
              new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE),
              new ACL(ZooDefs.Perms.ALL, ZooDefs.Ids.AUTH_IDS)))
          .forPath(root);
    }
  }

  private CuratorFramework admin() {
    CuratorFramework admin = CuratorFrameworkFactory.builder()
        .connectString(server.address())
        .retryPolicy(new RetryOneTime(100))
        .authorization("digest", "boss:boss".getBytes(StandardCharsets.UTF_8))
        .build();
    admin.start();
    return admin;
  }

  /** With a login the root belongs to who made it. */
  @Test
  void login_closesTheRoot() {
    List<Finding> all = look("zookeeper://ann:secret@" + server.address() + root);
    assertFound(all, Level.OK, "access", "logged in");
    assertFound(all, Level.OK, "permissions", "made and deleted");
    assertTrue(all.stream().noneMatch(each -> each.toString().contains("secret")), all::toString);
  }

  /** What servers say that a test cannot have at will. */
  @Test
  void answers_areUnderstood() {
    assertSrvr(
        Level.PROBLEM,
        "does not serve",
        "This ZooKeeper instance is not currently serving requests\n");
    assertSrvr(Level.PROBLEM, "another kind", "HTTP/1.1 400 Bad Request\r\n");
    assertSrvr(
        Level.WARNING,
        "does not say",
        "srvr is not executed because it is not in the whitelist.\n");
    assertSrvr(
        Level.PROBLEM,
        "read-only",
        "Zookeeper version: 3.9.3-c26634f3, built on 2024\nMode: read-only\n");
    assertSrvr(
        Level.PROBLEM,
        "own nodes",
        "Zookeeper version: 3.4.14-4c25d48, built on 2019\nMode: follower\n");
    assertSrvr(
        Level.PROBLEM, "own nodes", "Zookeeper version: 3.5.10-0, built on 2022\nMode: follower\n");
    assertSrvr(
        Level.OK,
        "ZooKeeper 3.6.0, leader",
        "Zookeeper version: 3.6.0--b4c8, built on 2020\nMode: leader\nNode count: 5\n");
    ZooKeeperSettings settings = ZooKeeperSettings.defaults().withTick(Duration.ofSeconds(1));
    assertEquals(List.of(), ServerReport.conf("a", "tickTime=1000\n", settings));
    assertEquals(1, ServerReport.conf("a", "tickTime=1001\n", settings).size());
  }

  private static void assertSrvr(Level level, String part, String answer) {
    assertFound(List.of(ServerReport.srvr("a:1", answer)), level, "server a:1", part);
  }
}
