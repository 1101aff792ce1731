// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The file beside the database that says that our command may still run, although we have died: the embedded store then
 * leaves the lock to its lease. It is there from before the command begins; we take it away when the lock is given back, and
 * {@code supervise.sh} does if we have died, once nothing of the command is left.
 *
 * @param id names it in the store's address
 * @param database the database's path as it is written there
 */
record WorkMark(String id, Path database) {
  /** One that no other client has, if the store knows such marks. */
  static Optional<WorkMark> of(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    return address.scheme().endsWith("sqlite")
        ? Optional.of(new WorkMark(
            Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, Character.MAX_RADIX),
            Path.of(address.rest())))
        : Optional.empty();
  }

  /** The address, with the name of the mark. */
  String in(String uri) {
    return uri + (uri.contains("?") ? "&" : "?") + "holdfast.work-mark=" + id;
  }

  /** Makes it; to be called while the lock is held, so that the database is there. */
  Path make() throws IOException {
    return Files.createFile(file());
  }

  /** Takes it away, if it is there. */
  void remove() {
    try {
      Files.deleteIfExists(file());
    } catch (IOException e) {
      // A client that cleans up will, when nothing is held under it any more.
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.DEBUG, "cannot remove the mark of the command", e);
    }
  }

  private Path file() throws IOException {
    return Path.of(database.toRealPath() + "." + id + ".work");
  }
}
