// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast release --force}. */
@Command(
    name = "release",
    header = "Ends another holder's hold without its consent.",
    description = {
      "",
      "The command does not stop the holder. The holder learns of the release when the store answers its next renewal, or, if"
          + " its lease is fixed or no renewal is answered, at its own deadline. Until then it may work beside the next"
          + " holder. Its late writes are refused only if the resource checks tokens and the next holder has written."
          + " Exits with 0 if the hold was ended, and with 1 if not: the lock was free, it changed hands meanwhile, or you"
          + " said no.",
      ""
    },
    footer = {"", "Example:", "  holdfast release --force nightly"},
    sortOptions = false)
final class ReleaseCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = "--force",
      required = true,
      description = "Required, to confirm that the holder is not asked.")
  boolean force;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  boolean yes;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Parameters(paramLabel = "NAME", description = "The lock.")
  String name = "";

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    if (!yes && !Question.canBeAsked()) {
      throw new CliException(
          Exit.USAGE,
          "there is no terminal to ask on; if you are sure that the holder is gone, add --yes");
    }
    try (Holdfast holdfast = store.chooseToLook(messages).look()) {
      Optional<LockInfo> seen = holdfast.admin().inspect(name).filter(LockInfo::isTaken);
      if (seen.isEmpty()) {
        messages.note("lock \"" + name + "\" is free");
        return Exit.FREE;
      }
      String holding = Describe.holding(seen.get(), Ticker.system().wallMillis());
      boolean held = seen.get().holder().isPresent();
      if (!yes && !confirmed(holding, held)) {
        messages.note("nothing was done");
        return Exit.FREE;
      }
      if (holdfast.admin().forceRelease(seen.get())) {
        messages.note(
            held
                ? "lock \"" + name + "\" was taken from its holder: it was " + holding
                    + "; it may be working until its next renewal"
                : "lock \"" + name + "\" was freed: it was " + holding);
        return Exit.OK;
      }
      messages.note("lock \"" + name + "\" has changed hands meanwhile; nothing was done");
      return Exit.FREE;
    }
  }

  private boolean confirmed(String holding, boolean held) {
    System.err.println("lock \"" + Failures.oneLine(name) + "\" is " + holding + ".");
    if (held) {
      System.err.println(
          "The holder is not stopped: it learns of this at its next renewal, and works on until then.");
    }
    return Question.isAnsweredYes(held ? "Take the lock from it?" : "Free the lock?");
  }
}
