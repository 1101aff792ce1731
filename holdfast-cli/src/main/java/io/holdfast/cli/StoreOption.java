// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

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

  /** Chooses the store for a command that takes locks: makes the folder of the default file. */
  StoreChoice choose(Messages messages) {
    StoreChoice choice = chooseToLook(messages);
    if (choice.isOurs()) {
      StoreChoice.makeFolder(choice.ourFile());
    }
    return choice;
  }

  /** Chooses the store, and says what there is to say about it. */
  StoreChoice chooseToLook(Messages messages) {
    StoreChoice choice = StoreChoice.of(store, System.getenv(), System.getProperty("user.home"));
    choice.warnings().forEach(messages::note);
    if (Terminal.is(2) && choice.isYetToCome()) {
      messages.note("no store was named: using " + choice.ourFile()
          + ", which reaches this user on this machine only (--store, HOLDFAST_STORE)");
    }
    return choice;
  }
}
