// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.Holdfast;
import java.nio.file.Files;
import java.nio.file.Path;

/** The other process of {@link SqliteProcessesTest}: its driver has nowhere to unpack itself to, and then it has. */
final class SqliteLateFolder {
  private SqliteLateFolder() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path file = Files.createFile(folder.resolve("no-folder"));
    System.setProperty("org.sqlite.tmpdir", file.resolve("below").toString());
    try (Holdfast one = Holdfast.builder()
        .store("sqlite:" + folder.resolve("locks.db"))
        .connectLazily()
        .build()) {
      try {
        boolean locked = one.lock("lock").tryRun(hold -> {});
        throw new AssertionError("there is nowhere to unpack to, and yet: " + locked);
      } catch (ConfigurationException e) {
        System.out.println(e.getMessage());
      }
      System.setProperty("org.sqlite.tmpdir", folder.toString());
      one.lock("lock").run(hold -> System.out.println("locked"));
    }
  }
}
