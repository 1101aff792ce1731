// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --store}, which all commands have. */
final class StoreOption {
  @Option(
      names = "--store",
      paramLabel = "URI|@FILE",
      description =
          "The store's address, or a file that holds it. Default: HOLDFAST_STORE, else a file of this user on"
              + " this machine.")
  @Nullable
  String store;

  /** Chooses the store, says what there is to say about it, and makes the folder of the default file. */
  StoreChoice choose(Messages messages) {
    StoreChoice choice = StoreChoice.of(store, System.getenv(), System.getProperty("user.home"));
    choice.warnings().forEach(messages::note);
    if (choice.isOurs()) {
      Path file = Path.of(choice.uri().substring("sqlite:".length()));
      StoreChoice.makeFolder(file);
      if (Terminal.is(2) && !Files.exists(file)) {
        messages.note("no store was named: using " + file
            + ", which reaches this user on this machine only (--store, HOLDFAST_STORE)");
      }
    }
    return choice;
  }
}
