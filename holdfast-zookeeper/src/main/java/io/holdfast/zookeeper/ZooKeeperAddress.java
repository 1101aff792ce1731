// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/** Reads an address for Curator. Its parts may be secret: nothing here is shown. */
final class ZooKeeperAddress implements ZooKeeperClients {
  static final int PORT = 2181;
  private static final int SECURE_PORT = 2281;
  private static final int HIGHEST_PORT = 65535;
  private static final String FORM = "write zookeeper://HOST:PORT,HOST:PORT/ROOT";

  private final StoreAddress address;
  private final ZooKeeperSettings settings;
  private final String servers;
  private final String login;
  private final Duration connectTimeout;
  private final ZooKeeperTls tls;

  ZooKeeperAddress(StoreAddress address) {
    this.address = address;
    address.requireOnly(
        "longest-lease",
        "tick",
        "connect-timeout",
        "acl",
        "sasl",
        "tls",
        "tls-ca",
        "tls-cert",
        "tls-key");
    this.tls = new ZooKeeperTls(address);
    address.requireNoOthers("a ZooKeeper address");
    String rest = address.rest();
    if (!rest.startsWith("//")) {
      throw wrong("the address does not begin with zookeeper://; " + FORM);
    }
    int slash = rest.indexOf('/', 2);
    String authority = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
    int at = authority.lastIndexOf('@');
    this.login = at < 0 ? "" : login(authority.substring(0, at));
    this.servers = servers(authority.substring(at + 1));
    this.settings = settings(slash < 0 ? "" : rest.substring(slash));
    this.connectTimeout = address.duration(
        "connect-timeout", Duration.ofSeconds(5), Duration.ofMillis(100), Duration.ofMinutes(1));
  }

  ZooKeeperSettings settings() {
    return settings;
  }

  private ZooKeeperSettings settings(String path) {
    ZooKeeperSettings defaults = ZooKeeperSettings.defaults();
    String root = path.isEmpty() || path.equals("/") ? defaults.root() : path;
    String problem = ZooKeeperSettings.problemOf(root);
    if (!problem.isEmpty()) {
      throw wrong(problem);
    }
    return new ZooKeeperSettings(
        root,
        address.duration(
            "longest-lease",
            defaults.longestLease(),
            ZooKeeperSettings.SHORTEST_LONGEST,
            ZooKeeperSettings.LONGEST_LONGEST),
        address.duration(
            "tick",
            defaults.tick(),
            ZooKeeperSettings.SHORTEST_TICK,
            ZooKeeperSettings.LONGEST_TICK),
        readAcl());
  }

  private String servers(String text) {
    List<String> all = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      all.add(server(each));
    }
    return String.join(",", all);
  }

  private String server(String text) {
    int colon = text.lastIndexOf(':');
    boolean hasPort = colon > text.lastIndexOf(']');
    String host = hasPort ? text.substring(0, colon) : text;
    int port = hasPort ? port(text.substring(colon + 1)) : tls.isOn() ? SECURE_PORT : PORT;
    if (host.isEmpty() || (host.indexOf(':') >= 0 && !host.startsWith("["))) {
      throw wrong("it names no server; " + FORM);
    }
    return host + ":" + port;
  }

  private int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port > 0 && port <= HIGHEST_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // said below, without the text: it may be part of a password with a stray character
    }
    throw wrong("the port is no number from 1 to " + HIGHEST_PORT);
  }

  private String login(String text) {
    if (text.indexOf(':') <= 0) {
      throw wrong("write USER:PASSWORD@ before the first host");
    }
    try {
      // unlike in a form, a + is a + here
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong("user and password must be percent-encoded: write %25 for %, %40 for @");
    }
  }

  /** Whether the servers come to know who we are, so that nodes can belong to us. */
  private boolean hasLogin() {
    return !login.isEmpty() || tls.showsWhoWeAre() || address.option("sasl").isPresent();
  }

  private List<ACL> readAcl() {
    String text = address.option("acl").orElse(hasLogin() ? "creator" : "open");
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "open" -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
      case "creator" -> ZooDefs.Ids.CREATOR_ALL_ACL;
      default -> throw wrong("holdfast.acl can be open or creator");
    };
  }

  @Override
  public boolean isGiven() {
    return false;
  }

  @Override
  public List<ACL> acl() {
    return settings.acl();
  }

  @Override
  public String servers() {
    return servers;
  }

  @Override
  public void close() {
    tls.close();
  }

  @Override
  public CuratorFramework client(int sessionMillis) {
    return builder(sessionMillis).build();
  }

  CuratorFrameworkFactory.Builder builder(int sessionMillis) {
    CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
        .connectString(servers)
        .sessionTimeoutMs(sessionMillis)
        .connectionTimeoutMs((int) connectTimeout.toMillis())
        // for requests that Curator makes for itself; ours are not repeated
        .retryPolicy(new RetryOneTime(100))
        // which would read the ensemble's configuration, and connect to addresses that may not be meant for us
        .ensembleTracker(false)
        .canBeReadOnly(false)
        .zkClientConfig(config());
    if (ServerList.isOneOfSeveral(servers)) {
      builder.zookeeperFactory(new Factory());
    }
    if (!login.isEmpty()) {
      builder.authorization("digest", login.getBytes(StandardCharsets.UTF_8));
    }
    return builder;
  }

  /** Makes clients that go from one server to the next before the holds of a session are lost. */
  private final class Factory implements ZookeeperFactory {
    @Override
    public ZooKeeper newZooKeeper(
        String named, int sessionMillis, Watcher watcher, boolean canBeReadOnly)
        throws IOException {
      return newZooKeeper(named, sessionMillis, watcher, canBeReadOnly, config());
    }

    @Override
    public ZooKeeper newZooKeeper(
        String named,
        int sessionMillis,
        Watcher watcher,
        boolean canBeReadOnly,
        ZKClientConfig config)
        throws IOException {
      ServerList list = new ServerList(named, sessionMillis, settings.tick());
      return new ZooKeeper(named, sessionMillis, watcher, canBeReadOnly, list, config);
    }
  }

  /** What is not said here is as ZooKeeper's client reads it from system properties. */
  @Override
  public ZKClientConfig config() {
    ZKClientConfig config = new ZKClientConfig();
    address.option("sasl").ifPresent(section -> {
      config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "true");
      config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
    });
    tls.into(config);
    return config;
  }

  private ConfigurationException wrong(String message) {
    return new ConfigurationException(message, address.toString(), null);
  }
}
