// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockStoreFactory;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Says at the end of the build which stores were held to the contract in it, and on which server. A store that was not
 * run is said, with the reason, never passed over; {@code -Dholdfast.stores=required}, as CI has it, makes it a failure, but
 * for servers in containers, and for stores whose contract is in another tier than those that were run.
 */
@Tag("matrix")
class StoresTest {
  private static final Path BUILD =
      Path.of(System.getProperty("holdfast.buildDirectory", "target"));

  /** When the build began, in UTC to the second: what is older was left behind by another one. */
  private static final Instant BEGAN = LocalDateTime.parse(
          System.getProperty("holdfast.buildBegan", "19700101000000"),
          DateTimeFormatter.ofPattern("yyyyMMddHHmmss", Locale.ROOT))
      .toInstant(ZoneOffset.UTC);

  /** What was run, and whether only what that tier has beyond the one below it. */
  private static final String TIER = System.getProperty("holdfast.tier", "fast");

  private static final boolean BEYOND = Boolean.getBoolean("holdfast.beyond");

  /** Whether a contract that belongs to the run and was not run fails it, whatever is said of servers. */
  private static final boolean CONTRACTS_ARE_REQUIRED =
      "required".equals(System.getProperty("holdfast.contracts"));

  /** Their contract is in the tier that needs no server but those that Maven brings; all others' is in "stores". */
  private static final List<String> FAST = List.of("memory", "sqlite", "zookeeper");

  /** Several servers that are one store, and servers that speak as those do that give an address its name. */
  private static final List<String> OTHERS = List.of(
      "consul-cluster", "etcd-cluster", "redis-cluster", "redis-sentinel", "valkey", "zookeeper-3");

  /** Newer servers than those that the build brings. They need Docker, which not every CI has: they are not required. */
  private static final List<String> IN_CONTAINERS =
      List.of("mysql-8.4", "mysql-9", "postgresql-18");

  @Test
  void everyStore_wasRun() {
    SortedSet<String> stores = schemes();
    stores.addAll(OTHERS);
    stores.addAll(IN_CONTAINERS);
    List<String> notRun = new ArrayList<>();
    StringBuilder matrix = new StringBuilder("\n== stores ==\n");
    for (String store : stores) {
      Optional<String> row = row(store + ".txt");
      matrix
          .append(row.or(() -> row(store + ".not-run"))
              .orElseGet(
                  () -> String.format(Locale.ROOT, "%-14s NOT RUN: %s", store, whyNot(store))))
          .append('\n');
      if (row.isEmpty() && isInThisRun(store) && !IN_CONTAINERS.contains(store)) {
        notRun.add(store);
      }
    }
    System.out.println(matrix);
    if (ServerPrograms.areRequired() || CONTRACTS_ARE_REQUIRED) {
      assertThat(notRun).as("stores whose contract was not run").isEmpty();
    }
  }

  private static boolean isInThisRun(String store) {
    boolean isFast = FAST.contains(store);
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
    return FAST.contains(store)
        ? "its contract is in tier \"fast\": ./mvnw verify"
        : "its contract is in tier \"stores\": ./mvnw verify -Pstores";
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

  /** What the contract has left behind in the module of the store. */
  private static Optional<String> row(String name) {
    try {
      for (Path module : Sources.modules()) {
        Path file = module.resolve(BUILD).resolve("contract").resolve(name);
        if (Files.exists(file) && !Files.getLastModifiedTime(file).toInstant().isBefore(BEGAN)) {
          return Files.readAllLines(file).stream().findFirst();
        }
      }
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
