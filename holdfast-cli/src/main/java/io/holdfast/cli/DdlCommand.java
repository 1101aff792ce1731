// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast ddl}. */
@Command(
    name = "ddl",
    header = "Prints the statements that make the store's schema by hand.",
    description = {"", "Does not contact the store.", ""},
    footer = {
      "",
      "Examples:",
      "  holdfast ddl --store sqlite:locks.db",
      "  holdfast ddl --store @store.uri --data | psql ..."
    },
    sortOptions = false)
final class DdlCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = "--data",
      description =
          "Print also the tables of what guards an application's own data in PostgreSQL, MySQL or MariaDB:"
              + " holdfast_fence (FencingGuard), holdfast_row and holdfast_version (DataLocks).")
  boolean data;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    try (LockStore opened = Stores.open(store.chooseToLook(messages).uri())) {
      print(opened.schema(), opened.describe() + " needs no schema", messages);
      if (data) {
        print(opened.dataSchema(), opened.describe() + " has no tables for other data", messages);
      }
      return Exit.OK;
    }
  }

  private static void print(List<String> schema, String ifNone, Messages messages) {
    if (schema.isEmpty()) {
      messages.note(ifNone);
    }
    schema.stream()
        .map(statement -> statement.endsWith(";") ? statement : statement + ";")
        .flatMap(String::lines)
        .forEach(Output::print);
  }
}
