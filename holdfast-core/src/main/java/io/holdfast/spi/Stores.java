// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.ConfigurationException;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;

/** Finds the store that an address names. */
public final class Stores {
  private static final String JDBC = "io.holdfast:holdfast-jdbc";
  private static final String SQLITE = "io.holdfast:holdfast-sqlite";
  private static final String REDIS = "io.holdfast:holdfast-redis";

  /** Where the schemes of Holdfast's own stores come from, for the hint when one is missing. */
  private static final Map<String, String> ARTIFACTS = Map.ofEntries(
      Map.entry("sqlite", SQLITE),
      Map.entry("jdbc:sqlite", SQLITE),
      Map.entry("jdbc:postgresql", JDBC),
      Map.entry("jdbc:mysql", JDBC),
      Map.entry("jdbc:mariadb", JDBC),
      Map.entry("redis", REDIS),
      Map.entry("rediss", REDIS),
      Map.entry("redis-sentinel", REDIS),
      Map.entry("redis-cluster", REDIS),
      Map.entry("redlock", REDIS),
      Map.entry("zookeeper", "io.holdfast:holdfast-zookeeper"),
      Map.entry("etcd", "io.holdfast:holdfast-etcd"),
      Map.entry("etcds", "io.holdfast:holdfast-etcd"),
      Map.entry("consul", "io.holdfast:holdfast-consul"),
      Map.entry("consuls", "io.holdfast:holdfast-consul"));

  /** What other programs call these stores. */
  private static final Map<String, String> MEANT = Map.ofEntries(
      Map.entry("mysql", "jdbc:mysql://"),
      Map.entry("mariadb", "jdbc:mariadb://"),
      Map.entry("postgres", "jdbc:postgresql://"),
      Map.entry("postgresql", "jdbc:postgresql://"),
      Map.entry("pgsql", "jdbc:postgresql://"),
      Map.entry("sqlite3", "sqlite:"),
      Map.entry("file", "sqlite:"),
      Map.entry("zk", "zookeeper://"),
      Map.entry("http", "consul:// or etcd://"),
      Map.entry("https", "consuls:// or etcds://"));

  private Stores() {}

  /**
   * Makes the store that an address names, with the factories on the class path or module path. No I/O.
   *
   * @param uri the address
   * @return a store, not started
   * @throws ConfigurationException if no factory serves the scheme (the message names the artifact to add, or the scheme
   *     that was probably meant, or lists the schemes found), or the address does not make sense
   */
  public static LockStore open(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    return factory(address).open(address);
  }

  /**
   * Makes the store that an address names, like {@link #open}, but one that creates no files, tables or nodes ({@link
   * LockStoreFactory#openExisting}). No I/O.
   *
   * @param uri the address
   * @return a store, not started
   * @throws ConfigurationException as {@link #open}
   */
  public static LockStore openExisting(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    return factory(address).openExisting(address);
  }

  private static LockStoreFactory factory(StoreAddress address) {
    TreeSet<String> found = new TreeSet<>();
    for (LockStoreFactory factory :
        ServiceLoader.load(LockStoreFactory.class, Stores.class.getClassLoader())) {
      if (factory.schemes().contains(address.scheme())) {
        return factory;
      }
      found.addAll(factory.schemes());
    }
    throw new ConfigurationException(
        "no store serves " + address.scheme() + ": here; " + advice(address.scheme(), found),
        address.toString(),
        null);
  }

  private static String advice(String scheme, Set<String> found) {
    String artifact = ARTIFACTS.get(scheme);
    if (artifact != null) {
      return "found " + list(found) + "; add " + artifact + " to the class path";
    }
    Set<String> known = new TreeSet<>(found);
    known.addAll(ARTIFACTS.keySet());
    return Optional.ofNullable(MEANT.get(scheme))
        .or(() -> Spelling.nearest(scheme, known).map(Stores::beginning))
        .map(meant -> "did you mean " + meant + "?")
        .orElseGet(() ->
            "found " + list(found) + "; check the spelling, or add the artifact that serves it");
  }

  private static String list(Set<String> schemes) {
    return String.join(":, ", schemes) + ":";
  }

  /** How an address with this scheme begins. */
  private static String beginning(String scheme) {
    return scheme + (scheme.endsWith("sqlite") || scheme.equals("memory") ? ":" : "://");
  }
}
