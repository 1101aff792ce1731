// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast run}: reads the options and checks what can be checked before anything is done. */
@Command(
    name = "run",
    header = "Runs a command while holding a lock.",
    description = {
      "",
      "Waits until the lock NAME is free, acquires it, runs COMMAND and releases the lock. If the lease cannot be renewed"
          + " (the store is unreachable, for example), COMMAND is ended before another holder can get the lock. COMMAND"
          + " runs without a shell, in a process group of its own, with the stdin, stdout and stderr of this process. It"
          + " finds the lock's name in HOLDFAST_LOCK and its token in HOLDFAST_TOKEN: pass the token to the resource that"
          + " COMMAND writes to, so that it can refuse a late write. Background processes that COMMAND leaves do not keep"
          + " the lock. Without --store or HOLDFAST_STORE, the lock is in a file of this user on this machine: other users"
          + " and machines do not see it.",
      ""
    },
    footer = {
      "",
      "A duration D is 30 or 30s (seconds), 500ms, 5m, 1h or 1d.",
      "",
      "Examples:",
      "  holdfast run nightly -- ./backup.sh          wait for the lock, then run",
      "  holdfast run -n nightly -- ./backup.sh       exit with 75 if another run has it",
      "  holdfast run --store @/etc/holdfast.store -w 5m --at-least 50m -E 0 hourly-message -- /opt/send-message",
      "                                               in the crontab of each machine: once an hour, on one of them",
      "  holdfast run --store @/etc/holdfast.store deploy -- sh -c './migrate && ./restart'",
      "",
      "Exit status: that of COMMAND (128+n if signal n ended it); 75 another holder has the lock, 76 the hold was lost,"
          + " 69 the store cannot be reached or did not answer, 77 the store refused the login or the request, 126 COMMAND"
          + " cannot be executed, 127 there is no such command, 128+n signal n came while waiting, 64 wrong usage, 73 a"
          + " file or folder of holdfast cannot be made, 70 a bug of Holdfast.",
    },
    sortOptions = false)
final class RunCommand implements Callable<Integer> {
  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = {"-w", "--wait"},
      paramLabel = "D",
      description = "Wait at most this long for the lock; 0 is one attempt. Default: no limit.")
  @Nullable
  Duration wait;

  @Option(
      names = {"-n", "--no-wait"},
      description = "Do not wait: one attempt.")
  boolean noWait;

  @Option(
      names = {"-E", "--busy-exit"},
      paramLabel = "N",
      description =
          "Exit with N instead of 75 if another holder has the lock. With 0, nothing is printed either.")
  @Nullable
  Integer busyExit;

  @Option(
      names = "--lease",
      paramLabel = "D",
      description =
          "How long the lock stays taken if this process dies; renewed while it lives. Default: 30s.")
  @Nullable
  Duration lease;

  @Option(
      names = "--at-least",
      paramLabel = "D",
      description =
          "Keep the lock taken until D after it was granted, if COMMAND succeeds (exits with 0).")
  @Nullable
  Duration atLeast;

  @Option(
      names = "--at-most",
      paramLabel = "D",
      description = "End COMMAND and give the lock up after D.")
  @Nullable
  Duration atMost;

  @Option(
      names = "--grace",
      paramLabel = "D",
      description =
          "How long COMMAND may take to end between SIGTERM and SIGKILL. Default: a quarter of the lease, at"
              + " most 10s.")
  @Nullable
  Duration grace;

  @Option(
      names = "--fair",
      description =
          "First come, first served, among the waiters with --fair. Redlock and Consul refuse it.")
  boolean fair;

  @Option(
      names = "--on-lost",
      paramLabel = "kill|warn",
      defaultValue = "kill",
      description =
          "What to do if the hold is lost, or about to be: end COMMAND (default), or only say so.")
  OnLoss onLost = OnLoss.kill;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Parameters(index = "0", paramLabel = "NAME", description = "The lock. Options end here.")
  String name = "";

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command and its arguments; -- before it does no harm.")
  List<String> command = List.of();

  /** The values of {@code --on-lost}, as they are typed. */
  @SuppressWarnings("checkstyle:ConstantName")
  enum OnLoss {
    kill,
    warn
  }

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    return new LockedRun(settings(), messages).run();
  }

  RunSettings settings() {
    List<String> line = command.get(0).equals("--") ? command.subList(1, command.size()) : command;
    if (line.isEmpty()) {
      throw new CliException(Exit.USAGE, "no command after --; write holdfast run NAME -- COMMAND");
    }
    if (noWait && wait != null && !wait.isZero()) {
      throw new CliException(Exit.USAGE, "--no-wait and --wait exclude each other");
    }
    int busy = busyExit == null ? Exit.BUSY : busyExit;
    if (busy < 0 || busy > 255) {
      throw new CliException(Exit.USAGE, "--busy-exit must be between 0 and 255, not " + busy);
    }
    positive("--lease", lease);
    positive("--at-most", atMost);
    LockOptions.Builder options = LockOptions.builder().fair(fair).note(note(line.get(0)));
    if (lease != null) {
      options.leaseFor(lease);
    }
    if (atLeast != null) {
      options.holdAtLeast(atLeast);
    }
    if (atMost != null) {
      options.holdAtMost(atMost);
    }
    LockOptions held = options.build();
    return new RunSettings(
        store,
        name,
        line,
        noWait ? Optional.of(Duration.ZERO) : Optional.ofNullable(wait),
        busy,
        held,
        KillPlan.of(KillPlan.longest(held), Optional.ofNullable(grace)),
        onLost == OnLoss.kill);
  }

  private static void positive(String option, @Nullable Duration value) {
    if (value != null && value.isZero()) {
      throw new CliException(Exit.USAGE, option + " must be longer than 0");
    }
  }

  /** What others see of the command: its name only, because arguments may hold secrets. */
  private static String note(String command) {
    String base = Failures.oneLine(command.substring(command.lastIndexOf('/') + 1));
    return base.length() > 100 ? base.substring(0, 100) : base;
  }
}
