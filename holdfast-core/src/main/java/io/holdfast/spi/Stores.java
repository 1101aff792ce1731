// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.ConfigurationException;
import java.util.Map;
import java.util.ServiceLoader;
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

  private Stores() {}

  /**
   * Makes the store that an address names, with the factories on the class path or module path. No I/O.
   *
   * @param uri the address
   * @return a store, not started
   * @throws ConfigurationException if no factory serves the scheme (the message lists the schemes found and names the
   *     artifact to add), or the address does not make sense
   */
  public static LockStore open(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    TreeSet<String> found = new TreeSet<>();
    for (LockStoreFactory factory :
        ServiceLoader.load(LockStoreFactory.class, Stores.class.getClassLoader())) {
      if (factory.schemes().contains(address.scheme())) {
        return factory.open(address);
      }
      found.addAll(factory.schemes());
    }
    String artifact = ARTIFACTS.get(address.scheme());
    throw new ConfigurationException(
        "no store serves " + address.scheme() + ": here; found " + String.join(":, ", found) + ":; "
            + (artifact == null
                ? "check the spelling, or add the artifact that serves it"
                : "add " + artifact + " to the class path"),
        address.toString(),
        null);
  }
}
