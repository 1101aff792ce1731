// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockStoreFactory;
import io.holdfast.testkit.process.ServerOptions;
import io.holdfast.testkit.process.ServerPrograms;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Says at the end of the build which stores were held to the contract in it, and on which server. A store that was not
 * run is said, with the reason, never passed over; {@code -Dholdfast.stores=required}, as CI has it, makes it a failure, but
 * for servers in containers, and for stores whose contract is in another tier than those that were run.
 */
@Tag("matrix")
class StoresTest {
  /** What was run, and whether only what that tier has beyond the one below it. */
  private static final String TIER = System.getProperty("holdfast.tier", "fast");

  private static final boolean BEYOND = Boolean.getBoolean("holdfast.beyond");

  /** Whether a contract that belongs to the run and was not run fails it, whatever is said of servers. */
  private static final boolean CONTRACTS_ARE_REQUIRED =
      "required".equals(System.getProperty("holdfast.contracts"));

  /** Their contract is in the tier that needs no server but those that Maven brings; all others' is in "stores". */
  static final List<String> FAST = List.of("memory", "sqlite", "zookeeper");

  /** Several servers that are one store, and servers that speak as those do that give an address its name. */
  private static final List<String> OTHERS = List.of(
      "consul-cluster", "etcd-cluster", "redis-cluster", "redis-sentinel", "valkey", "zookeeper-3");

  /** The program of each server that Maven does not bring, and of its clusters. */
  static final Map<String, String> PROGRAMS = Map.of(
      "consul", "consul",
      "etcd", "etcd",
      "mariadb", "mariadbd",
      "mysql", "mysqld",
      "postgresql", "initdb",
      "redis", "redis-server",
      "redlock", "redis-server",
      "valkey", "valkey-server");

  /** Newer servers than those that the build brings. They need Docker, which not every CI has: they are not required. */
  private static final List<String> IN_CONTAINERS = List.of("mysql-8.4", "mysql-9");

  /** Tier "all" runs their contract on the oldest supported servers too. */
  private static final List<String> OF_TWO_AGES = List.of(
      "etcd",
      "etcd-cluster",
      "mariadb",
      "postgresql",
      "redis",
      "redis-cluster",
      "redis-sentinel",
      "redlock");

  @Test
  void everyStore_wasRun() {
    SortedSet<String> stores = rows();
    Matrix run = Matrix.read();
    List<String> notRun = new ArrayList<>();
    StringBuilder matrix = new StringBuilder("\n== stores ==\n");
    for (String store : stores) {
      Optional<String> row = run.run(store);
      matrix
          .append(row.or(() -> run.notRun(store))
              .orElseGet(
                  () -> String.format(Locale.ROOT, "%-21s NOT RUN: %s", store, whyNot(store))))
          .append('\n');
      if (row.isEmpty() && isInThisRun(store) && !IN_CONTAINERS.contains(newest(store))) {
        notRun.add(store);
      }
    }
    System.out.println(matrix);
    if (ServerOptions.areRequired() || CONTRACTS_ARE_REQUIRED) {
      assertThat(notRun).as("stores whose contract was not run").isEmpty();
    }
  }

  private static SortedSet<String> rows() {
    SortedSet<String> stores = schemes();
    stores.addAll(OTHERS);
    stores.addAll(IN_CONTAINERS);
    if (ServerOptions.areOldest()) {
      return stores.stream()
          .map(store -> store + Matrix.OLDEST)
          .collect(Collectors.toCollection(TreeSet::new));
    }
    if (TIER.equals("all")) {
      OF_TWO_AGES.forEach(store -> stores.add(store + Matrix.OLDEST));
    }
    return stores;
  }

  private static String newest(String store) {
    return store.replace(Matrix.OLDEST, "");
  }

  private static boolean isInThisRun(String store) {
    if (store.endsWith(Matrix.OLDEST) && TIER.equals("all")) {
      return true;
    }
    boolean isFast = FAST.contains(newest(store));
    return switch (TIER) {
      case "fast" -> isFast;
      case "stores" -> !(BEYOND && isFast);
      default -> !BEYOND;
    };
  }

  private static String whyNot(String store) {
    if (isInThisRun(store)) {
      return "its tests did not come so far in this build";
    }
    if (FAST.contains(newest(store))) {
      return "its contract is in tier \"fast\": ./mvnw verify";
    }
    return "its contract is in tier \"stores\": ./mvnw verify -Pstores"
        + program(newest(store))
            .flatMap(ServerPrograms::obstacle)
            .map(obstacle -> "; " + obstacle)
            .orElse("");
  }

  /** The program of a store's server, or of those of its cluster; nothing if it needs none, or Maven brings it. */
  static Optional<String> program(String store) {
    return Optional.ofNullable(PROGRAMS.get(store.replaceFirst("-(cluster|sentinel)$", "")));
  }

  private static SortedSet<String> schemes() {
    SortedSet<String> schemes = new TreeSet<>();
    for (LockStoreFactory factory : ServiceLoader.load(LockStoreFactory.class)) {
      // the same store under its JDBC address, or with TLS
      factory
          .schemes()
          .forEach(scheme -> schemes.add(scheme
              .replaceFirst("^jdbc:", "")
              .replaceFirst("^rediss$", "redis")
              .replaceFirst("^etcds$", "etcd")
              .replaceFirst("^consuls$", "consul")));
    }
    return schemes;
  }
}
