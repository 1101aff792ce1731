// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast ddl}. */
@Command(
    name = "ddl",
    header = "Prints the statements that make the store's schema by hand.",
    description = {"", "Does not contact the store.", ""},
    footer = {"", "Example:", "  holdfast ddl --store sqlite:locks.db"},
    sortOptions = false)
final class DdlCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    try (LockStore opened = Stores.open(store.choose(messages).uri())) {
      List<String> schema = opened.schema();
      if (schema.isEmpty()) {
        messages.note(opened.describe() + " needs no schema");
      }
      schema.forEach(
          statement -> Output.print(statement.endsWith(";") ? statement : statement + ";"));
      return Exit.OK;
    }
  }
}
