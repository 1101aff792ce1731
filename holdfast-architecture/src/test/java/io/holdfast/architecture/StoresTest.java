// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockStoreFactory;
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
import org.junit.jupiter.api.Test;

/**
 * Says at the end of the build which stores were held to the contract in it, and on which server. A store that was not
 * run is said, with the reason, never passed over; {@code -Dholdfast.stores=required}, as CI has it, makes it a failure, but
 * for servers in containers.
 */
class StoresTest {
  private static final Path BUILD =
      Path.of(System.getProperty("holdfast.buildDirectory", "target"));

  /** When the build began, in UTC to the second: what is older was left behind by another one. */
  private static final Instant BEGAN = LocalDateTime.parse(
          System.getProperty("holdfast.buildBegan", "19700101000000"),
          DateTimeFormatter.ofPattern("yyyyMMddHHmmss", Locale.ROOT))
      .toInstant(ZoneOffset.UTC);

  /** The same stores on other servers: newer ones, which need Docker and are not required, and several that are one. */
  private static final List<String> MORE = List.of(
      "consul-cluster",
      "etcd-cluster",
      "mysql-8.4",
      "mysql-9",
      "postgresql-18",
      "redis-cluster",
      "redis-sentinel",
      "zookeeper-3");

  @Test
  void everyStore_wasRun() {
    List<String> notRun = new ArrayList<>();
    StringBuilder matrix = new StringBuilder("\n== stores ==\n");
    for (String scheme : schemes()) {
      Optional<String> row = row(scheme + ".txt");
      matrix.append(
          row.or(() -> row(scheme + ".not-run")).orElse(scheme + "  NOT RUN in this build"));
      matrix.append('\n');
      if (row.isEmpty()) {
        notRun.add(scheme);
      }
    }
    for (String store : MORE) {
      row(store + ".txt")
          .or(() -> row(store + ".not-run"))
          .ifPresent(row -> matrix.append(row).append('\n'));
    }
    System.out.println(matrix);
    if (System.getProperty("holdfast.stores", "").equals("required")) {
      assertThat(notRun).as("stores whose contract was not run").isEmpty();
    }
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
