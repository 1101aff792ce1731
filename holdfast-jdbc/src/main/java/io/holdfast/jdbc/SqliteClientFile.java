// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of a client's file beside the database: {@code DATABASE.BOOT.PROCESS.ID.WORK.client}. See {@link SqliteLiveness}.
 *
 * @param boot which boot of which machine; all containers of a machine have the same
 * @param process the process's number and when it began, so that also two processes that are each number 1 of a container
 *     have different ones
 * @param id tells the clients of a process apart
 * @param work names the file that says that work of the process may outlive it, empty if there is none
 */
record SqliteClientFile(String boot, String process, String id, String work) {
  private static final Pattern NAME = Pattern.compile(
      "([0-9a-f]{8})\\.([0-9a-z]+-[0-9a-z]+)\\.([0-9a-f]+)\\.([0-9A-Za-z]*)\\.client");

  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** This boot, or null where the kernel does not say. */
  static final @Nullable String THIS_BOOT = thisBoot();

  /** This process, the same for all class loaders in it; null where the platform does not say when it began. */
  static final @Nullable String THIS_PROCESS = thisProcess();

  /** Reads what follows the database's name and a dot; null if it is something else. */
  static @Nullable SqliteClientFile parse(String text) {
    Matcher matcher = NAME.matcher(text);
    return matcher.matches()
        ? new SqliteClientFile(
            matcher.group(1), matcher.group(2), matcher.group(3), matcher.group(4))
        : null;
  }

  boolean isOfThisBoot() {
    return boot.equals(THIS_BOOT);
  }

  /** Says whether it certainly is a file of another process, which may be opened. */
  boolean isOfAnotherProcess() {
    return THIS_PROCESS != null && !process.equals(THIS_PROCESS);
  }

  @Override
  public String toString() {
    return boot + "." + process + "." + id + "." + work + ".client";
  }

  private static @Nullable String thisBoot() {
    try {
      String id = Files.readString(BOOT_ID, StandardCharsets.US_ASCII);
      return id.matches("(?s)[0-9a-f]{8}-.*") ? id.substring(0, 8) : null;
    } catch (IOException e) {
      // not Linux
      return null;
    }
  }

  private static @Nullable String thisProcess() {
    ProcessHandle self = ProcessHandle.current();
    return self.info()
        .startInstant()
        .map(began -> String.format(Locale.ROOT, "%06x", self.pid()) + "-"
            + Long.toString(Math.abs(began.toEpochMilli()), Character.MAX_RADIX))
        .orElse(null);
  }
}
