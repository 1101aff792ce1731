// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import io.holdfast.Waiters;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast show}. */
@Command(
    name = "show",
    header = "Shows one lock.",
    description = {
      "",
      "Exits with 0 if the lock is held (or kept taken by --at-least), 1 if it is free.",
      ""
    },
    footer = {"", "Example:", "  holdfast show nightly || echo it is not running"},
    sortOptions = false)
final class ShowCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Option(names = "--json", description = "Print a JSON object.")
  boolean json;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Parameters(paramLabel = "NAME", description = "The lock.")
  String name = "";

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    LockStore opened = store.chooseToLook(messages).existing();
    try (Holdfast holdfast = StoreChoice.look(opened)) {
      Optional<LockInfo> found = holdfast.admin().inspect(name);
      LockInfo info = found.orElseGet(() -> free(name, opened.waitersOfFreeLock()));
      if (json) {
        Output.print(Json.write(LockView.json(info)));
      } else if (found.isEmpty()) {
        Output.print("lock        " + Failures.oneLine(name));
        Output.print("state       free");
      } else {
        LockView.details(info, Ticker.system().wallMillis()).forEach(Output::print);
      }
      return info.isTaken() ? Exit.OK : Exit.FREE;
    }
  }

  private static LockInfo free(String name, Waiters waiters) {
    return new LockInfo(
        name, Optional.empty(), Optional.empty(), Duration.ZERO, 0, Optional.empty(), waiters);
  }
}
