// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where the file is, and how it is used.
 *
 * @param path the file, absolute
 * @param retention how long a released lock's row stays, measured from its revision: what keeps tokens growing
 * @param pollAtMost the longest that a waiter does not look
 * @param networkFile whether a file on a network file system is taken
 * @param workId names the file that says that work of this process may outlive it, empty if there is none
 * @param makesFile whether a file that is missing or empty is made; else it is refused
 */
record SqliteOptions(
    Path path,
    Duration retention,
    Duration pollAtMost,
    boolean networkFile,
    String workId,
    boolean makesFile) {
  static final Duration RETENTION = Duration.ofHours(24);
  static final Duration POLL = Duration.ofMillis(25);

  private static final Pattern WORK_ID = Pattern.compile("[0-9A-Za-z]{1,40}");

  private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
  private static final Duration LONGEST_RETENTION = Duration.ofDays(3660);
  private static final Duration SHORTEST_POLL = Duration.ofMillis(2);
  private static final Duration LONGEST_POLL = Duration.ofSeconds(10);

  static SqliteOptions of(Path path) {
    return new SqliteOptions(path.toAbsolutePath(), RETENTION, POLL, false, "", true);
  }

  /** The same for a file that must be there. */
  SqliteOptions existing() {
    return new SqliteOptions(path, retention, pollAtMost, networkFile, workId, false);
  }

  /**
   * Reads an address.
   *
   * @throws ConfigurationException if it does not make sense
   */
  static SqliteOptions of(StoreAddress address) {
    String store = address.toString();
    address.requireOnly("retention", "poll", "network-file", "work-id");
    address.requireNoOthers("a SQLite address");
    return new SqliteOptions(
        path(address.rest(), store),
        address.duration("retention", RETENTION, SHORTEST_RETENTION, LONGEST_RETENTION),
        address.duration("poll", POLL, SHORTEST_POLL, LONGEST_POLL),
        allow(address),
        workId(address),
        true);
  }

  private static Path path(String text, String store) {
    if (text.isEmpty()) {
      throw new ConfigurationException(
          "the address names no file; write sqlite:PATH, for example sqlite:/var/lib/app/locks.db",
          store,
          null);
    }
    if (text.startsWith(":") || text.startsWith("file:")) {
      throw new ConfigurationException(
          "write sqlite:PATH with a plain path; SQLite's special names (:memory:, file:...) are not taken. For locks"
              + " within one process use memory:",
          store,
          null);
    }
    try {
      return Path.of(text).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw new ConfigurationException("not a path: " + e.getMessage(), store, e);
    }
  }

  private static String workId(StoreAddress address) {
    String id = address.option("work-id").orElse("");
    if (address.option("work-id").isPresent() && !WORK_ID.matcher(id).matches()) {
      throw new ConfigurationException(
          "holdfast.work-id must be 1 to 40 letters and digits, not \"" + id + "\"",
          address.toString(),
          null);
    }
    return id;
  }

  private static boolean allow(StoreAddress address) {
    Optional<String> text = address.option("network-file");
    if (text.isPresent() && !text.get().equals("allow")) {
      throw new ConfigurationException(
          "holdfast.network-file can only be \"allow\", not \"" + text.get() + "\"",
          address.toString(),
          null);
    }
    return text.isPresent();
  }
}
