// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Tells other clients of an embedded store that the command may still run after holdfast has died: its lock is then left to
 * the lease. Created with the lock held, before the command begins, and removed after the release; if holdfast has died,
 * {@code supervise.sh} removes it once nothing of the command is left.
 *
 * @param id names it in the store's address
 * @param database the database's path as it is written there
 */
record WorkFile(String id, Path database) {
  /** One that no other client has, if the store knows such files. */
  static Optional<WorkFile> of(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    return address.scheme().endsWith("sqlite")
        ? Optional.of(new WorkFile(
            Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX),
            Path.of(address.rest())))
        : Optional.empty();
  }

  /** The address, with its name. */
  String addTo(String uri) {
    return uri + (uri.contains("?") ? "&" : "?") + "holdfast.work-id=" + id;
  }

  /** Creates it; to be called with the lock held. */
  Path create() throws IOException {
    return Files.createFile(file());
  }

  /** Removes it, if it exists. */
  void remove() {
    try {
      Files.deleteIfExists(file());
    } catch (IOException e) {
      // A client that cleans deletes it once no lock is held under it.
      System.getLogger("io.holdfast.cli")
          .log(
              System.Logger.Level.DEBUG,
              "cannot remove the file that says that the command may run",
              e);
    }
  }

  private Path file() throws IOException {
    return Path.of(database.toRealPath() + "." + id + ".work");
  }
}
