// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who we are to the servers, and whom the nodes belong to; chroots. */
@Timeout(120)
@Tag("stores")
class ZooKeeperLoginTest {
  private static final String FIPS_MODE = "zookeeper.fips-mode";

  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final String LOGIN = "ann:s%40cret";

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/login/" + ROOTS.incrementAndGet();

  private CuratorFramework curator(String servers, String user) {
    CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
        .connectString(servers)
        .sessionTimeoutMs(40_000)
        .retryPolicy(new RetryOneTime(100));
    if (!user.isEmpty()) {
      builder.authorization("digest", user.getBytes(StandardCharsets.UTF_8));
    }
    CuratorFramework curator = builder.build();
    curator.start();
    return curator;
  }

  /** Who all the nodes of a lock belong to: root, format, bucket, folder, claim, and the marker of a kept lock. */
  private static Set<String> owners(CuratorFramework curator, String root) throws Exception {
    ZooKeeperPaths paths = new ZooKeeperPaths(root);
    LockKey held = LockKey.of("held");
    LockKey kept = LockKey.of("kept");
    Set<String> owners = new TreeSet<>();
    for (String path : List.of(
        paths.root(),
        paths.format(),
        paths.bucket(held),
        paths.folder(held),
        paths.folder(held) + "/"
            + curator.getChildren().forPath(paths.folder(held)).get(0),
        paths.folder(kept) + "/"
            + curator.getChildren().forPath(paths.folder(kept)).get(0))) {
      for (ACL each : curator.getACL().forPath(path)) {
        owners.add(each.getId().getScheme() + ":" + each.getId().getId() + ":" + each.getPerms());
      }
    }
    return owners;
  }

  private Set<String> ownersWith(String uri) throws Exception {
    LockOptions hour = LockOptions.builder().holdAtLeast(Duration.ofHours(1)).build();
    try (Holdfast holdfast = Clients.connect(uri);
        Hold held = holdfast.lock("held").acquire();
        CuratorFramework curator = curator(server.address(), "ann:s@cret")) {
      assertTrue(held.isValid());
      assertTrue(holdfast.lock("kept", hour).acquire().release());
      return owners(curator, root);
    }
  }

  /** With a login, all that we make is ours alone. */
  @Test
  void nodes_belongToTheLogin() throws Exception {
    String digest = DigestAuthenticationProvider.generateDigest("ann:s@cret");
    assertEquals(
        Set.of("digest:" + digest + ":31"),
        ownersWith("zookeeper://" + LOGIN + "@" + server.address() + root));
  }

  /** Unless the nodes are to be open. */
  @Test
  void nodes_canBeOpenThoughWeLogIn() throws Exception {
    assertEquals(
        Set.of("world:anyone:31"),
        ownersWith("zookeeper://" + LOGIN + "@" + server.address() + root + "?holdfast.acl=open"));
  }

  @Test
  void nodes_areOpenWithoutALogin() throws Exception {
    assertEquals(Set.of("world:anyone:31"), ownersWith("zookeeper://" + server.address() + root));
  }

  /** Of a client that was given, its ACL provider has no say; the settings have. */
  @Test
  void nodesOfAGivenClient_areAsTheSettingsSay() throws Exception {
    try (CuratorFramework ann = curator(server.address(), "ann:s@cret");
        CuratorFramework stranger = curator(server.address(), "");
        Holdfast holdfast = Holdfast.builder()
            .store(ZooKeeperStore.using(
                ann,
                ZooKeeperSettings.defaults().withRoot(root).withAcl(ZooDefs.Ids.CREATOR_ALL_ACL)))
            .requestTimeout(Clients.REQUEST_TIMEOUT)
            .build();
        Hold hold = holdfast.lock("held").acquire()) {
      String folder = new ZooKeeperPaths(root).folder(LockKey.of("held"));
      String node = folder + "/" + ann.getChildren().forPath(folder).get(0);
      assertThrows(
          KeeperException.NoAuthException.class, () -> stranger.delete().forPath(node));
      assertThrows(
          KeeperException.NoAuthException.class, () -> stranger.create().forPath(folder + "/x"));
      assertTrue(hold.release());
    }
  }

  /** A client that was given has a chroot: all is below it, and found under it by an address that names it. */
  @Test
  void chrootOfAGivenClient_isKeptTo() throws Exception {
    try (CuratorFramework all = curator(server.address(), "")) {
      all.create().creatingParentsIfNeeded().forPath(root + "/jail");
      try (CuratorFramework jailed = curator(server.address() + root + "/jail", "");
          Holdfast inner = Holdfast.builder()
              .store(
                  ZooKeeperStore.using(jailed, ZooKeeperSettings.defaults().withRoot("/a/locks")))
              .requestTimeout(Clients.REQUEST_TIMEOUT)
              .build();
          Holdfast outer =
              Clients.connect("zookeeper://" + server.address() + root + "/jail/a/locks");
          Hold hold = inner.lock("x").acquire()) {
        assertTrue(outer.lock("x").tryAcquire().isEmpty());
        assertEquals(hold.token(), outer.admin().inspect("x").orElseThrow().token());
        assertEquals(List.of("a"), all.getChildren().forPath(root + "/jail"));
        assertTrue(hold.release());
        assertTrue(outer.lock("x").tryAcquire().orElseThrow().release());
      }
    }
  }

  /**
   * SASL, as the JAAS configuration says: the section is the address's, and the nodes belong to the user there. DIGEST-MD5
   * needs the FIPS mode off, on both sides.
   */
  @Test
  void sasl_isTheSectionsUser(@TempDir Path folder) throws Exception {
    Path jaas = folder.resolve("jaas.conf");
    Files.writeString(
        jaas,
        "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_ann=\"s3cret\"; };");
    Configuration before = useSections();
    System.setProperty(FIPS_MODE, "false");
    try (ZooKeeperServer secured = ZooKeeperServer.alone(
        "-D" + FIPS_MODE + "=false",
        "-Djava.security.auth.login.config=" + jaas,
        "authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider")) {
      String uri = "zookeeper://" + secured.address() + "/locks?holdfast.sasl=";
      try (Holdfast holdfast = Clients.connect(uri + "Locks");
          Hold hold = holdfast.lock("held").acquire();
          CuratorFramework ann =
              new ZooKeeperAddress(StoreAddress.parse(uri + "Locks")).client(10_000)) {
        ann.start();
        assertTrue(hold.isValid());
        assertEquals(
            List.of(new ACL(ZooDefs.Perms.ALL, new Id("sasl", "ann"))),
            ann.getACL().forPath("/locks"));
      }
      StoreUnavailableException refused = assertThrows(
          StoreUnavailableException.class,
          () -> Holdfast.builder()
              .store(uri + "Wrong")
              .requestTimeout(Duration.ofSeconds(3))
              .build()
              .close());
      assertEquals(
          "store zookeeper://" + secured.address()
              + "/locks: could not make or read /locks/format: AuthFailed: the server refused the login"
              + "; correct user and password in the JAAS configuration (in the section that holdfast.sasl names, else Client)",
          refused.getMessage());
      assertEquals(StoreUnavailableException.Reason.REFUSED, refused.reason());
    } finally {
      System.clearProperty(FIPS_MODE);
      Configuration.setConfiguration(before);
    }
  }

  /** Sections of a JAAS configuration, as a file would have them. */
  private static Configuration useSections() {
    Configuration before = new Configuration() {
      @Override
      @SuppressWarnings("NullAway") // where there is no such section
      public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
        return null;
      }
    };
    Configuration.setConfiguration(new Configuration() {
      @Override
      @SuppressWarnings("NullAway") // where there is no such section
      public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
        String password = Map.of("Locks", "s3cret", "Wrong", "guessed").get(name);
        return password == null
            ? null
            : new AppConfigurationEntry[] {
              new AppConfigurationEntry(
                  "org.apache.zookeeper.server.auth.DigestLoginModule",
                  LoginModuleControlFlag.REQUIRED,
                  Map.of("username", "ann", "password", password))
            };
      }
    });
    return before;
  }

  /** What the address does not say is as ZooKeeper's client reads it from system properties. */
  @Test
  void systemProperties_reachTheClient() throws Exception {
    System.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, "FromAProperty");
    try (CuratorFramework plain = client("")) {
      assertEquals("FromAProperty", section(plain));
      try (CuratorFramework named = client("?holdfast.sasl=FromTheAddress")) {
        assertEquals("FromTheAddress", section(named));
      }
    } finally {
      System.clearProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
    }
  }

  private CuratorFramework client(String parameters) {
    String uri = "zookeeper://" + server.address() + root + parameters;
    CuratorFramework curator = new ZooKeeperAddress(StoreAddress.parse(uri)).client(10_000);
    curator.start();
    return curator;
  }

  private static String section(CuratorFramework curator) throws Exception {
    return curator
        .getZookeeperClient()
        .getZooKeeper()
        .getClientConfig()
        .getProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
  }
}
