// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast ls}. */
@Command(
    name = "ls",
    header = "Lists the locks that are taken or waited for.",
    description = {"", "Prints nothing if there are none.", ""},
    footer = {"", "Example:", "  holdfast ls nightly/ --json"},
    sortOptions = false)
final class ListCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = "--json",
      description = "Print a JSON array. Tokens are text: they are 63-bit integers.")
  boolean json;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Parameters(
      arity = "0..1",
      paramLabel = "PREFIX",
      description = "Only names that begin with this.")
  String prefix = "";

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    try (Holdfast holdfast = store.chooseToLook(messages).look()) {
      List<LockInfo> locks = holdfast.admin().list(prefix);
      if (json) {
        Output.print(Json.write(locks.stream().map(LockView::json).toList()));
      } else {
        LockView.table(locks, Ticker.system().wallMillis()).forEach(Output::print);
      }
      return Exit.OK;
    }
  }
}
