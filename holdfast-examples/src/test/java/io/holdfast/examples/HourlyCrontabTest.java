// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The line of a crontab, as it stands in docs/cron.md, with its times scaled down. */
@Tag("stores")
class HourlyCrontabTest extends HourlyMessageCases {
  /** The first contact with the store is within the wait here; when it takes all of it, the answer is 69 and not 75. */
  private static final int FIRST_CONTACT_MILLIS =
      8_000 * Integer.getInteger("holdfast.patience", 1);

  @Override
  List<String> commandLine(int waitMillis) throws IOException {
    List<String> words = new ArrayList<>(List.of("io.holdfast.cli.Main"));
    for (String word : Crontab.command().split(" ", -1)) {
      words.add(
          switch (word) {
            case "@/etc/holdfast.store" -> "@" + store();
            case "5m" -> waitMillis + FIRST_CONTACT_MILLIS + "ms";
            case "50m" -> KEPT_MILLIS + "ms";
            case "/opt/send-message" -> sendMessage().toString();
            default -> word;
          });
    }
    words.remove("/usr/local/bin/holdfast");
    // the line leaves the lease to the default
    words.addAll(2, List.of("--lease", LEASE_MILLIS + "ms"));
    return javaOf(installed(), words.toArray(String[]::new));
  }

  /** With -E 0, cron has nothing to mail. */
  @Override
  int busyExit() {
    return 0;
  }

  private Path store() throws IOException {
    Path file = folder.resolve("holdfast.store");
    if (!Files.exists(file)) {
      Files.writeString(file, "sqlite:" + folder.resolve("locks.db") + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
    return file;
  }

  /** The class path without the tests: their loggers would stand before those that the command has where it is installed. */
  private static String installed() {
    String tests = Path.of(URI.create(HourlyCrontabTest.class
            .getProtectionDomain()
            .getCodeSource()
            .getLocation()
            .toString()))
        .toString();
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(each -> !Path.of(each).toString().equals(tests))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private Path sendMessage() throws IOException {
    Path script = folder.resolve("send-message");
    if (!Files.exists(script)) {
      Files.writeString(script, """
          #!/bin/sh
          if rm first 2>/dev/null; then
            echo first
            read -r ending
            [ "$ending" = succeed ] || exit 1
          fi
          echo "the hourly message, token $HOLDFAST_TOKEN" >>outbox
          """);
      if (!script.toFile().setExecutable(true)) {
        throw new IOException("cannot make " + script + " executable");
      }
    }
    return script;
  }

  /** Whether a command waits is not to be seen from outside; that it is late changes nothing in what must come out. */
  @Override
  void untilAllAsk() {}
}
