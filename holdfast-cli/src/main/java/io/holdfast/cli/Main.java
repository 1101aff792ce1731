// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holdfast;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/** The command {@code holdfast}. */
@Command(
    name = "holdfast",
    header = "Runs commands under a distributed lock, and looks after the locks.",
    description = {
      "",
      "Without --store or HOLDFAST_STORE, locks are in a file of this user: they reach this user on this machine.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  holdfast run nightly -- ./backup.sh     one at a time; the second waits",
      "  holdfast ls                             which locks are held, and by which process",
      "",
      "'holdfast COMMAND --help' tells more."
    },
    versionProvider = Main.Version.class,
    subcommands = {
      RunCommand.class,
      ListCommand.class,
      ShowCommand.class,
      ReleaseCommand.class,
      DoctorCommand.class,
      DdlCommand.class,
      VerifyCommand.class,
      BenchCommand.class,
      PrepareCommand.class
    },
    sortOptions = false,
    synopsisSubcommandLabel = "COMMAND")
public final class Main {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = CommandLine.ScopeType.INHERIT,
      description = "Print this help.")
  boolean help;

  @Option(names = "--version", versionHelp = true, description = "Print the version.")
  boolean version;

  private Main() {}

  /**
   * Runs and exits.
   *
   * @param arguments the command line
   */
  public static void main(String[] arguments) {
    // Lettuce prepares events for a flight recorder, which takes 0.2 s of a processor at each start on Redis
    System.getProperties().putIfAbsent("io.lettuce.core.jfr", "false");
    System.exit(run(arguments));
  }

  /** Runs, and returns the exit code. */
  static int run(String... arguments) {
    Logging.verbosity(0);
    Optional<RunCommand> plain = PlainRun.parse(arguments);
    if (plain.isPresent()) {
      try {
        return plain.get().call();
      } catch (RuntimeException e) {
        return failed(e);
      }
    }
    CommandLine line = commandLine();
    if (arguments.length == 0) {
      line.usage(System.err);
      return Exit.USAGE;
    }
    return line.execute(arguments);
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new Main())
        .registerConverter(Duration.class, new DurationConverter())
        // what begins with @ is the command's business, or --store's
        .setExpandAtFiles(false)
        .setParameterExceptionHandler(Main::misused)
        .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure));
    runCommand(line).setStopAtPositional(true);
    line.setUsageHelpWidth(100);
    return line;
  }

  /** The command {@code run} as picocli reads it. */
  static CommandLine runCommand() {
    return runCommand(commandLine());
  }

  private static CommandLine runCommand(CommandLine program) {
    return Objects.requireNonNull(program.getSubcommands().get("run"));
  }

  private static int misused(CommandLine.ParameterException failure, String[] arguments) {
    say(Misuse.line(failure, List.of(arguments)));
    return Exit.USAGE;
  }

  private static int failed(Exception failure) {
    CliException told = Failures.explain(failure);
    say(told.line());
    if (told.getCause() != null) {
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.DEBUG, "the command failed", told.getCause());
    }
    return told.code();
  }

  private static void say(String line) {
    new Messages(Stderr.ours(), Messages.Level.USUAL).error(line);
  }

  /** Lets picocli read durations; a class of its own, so that picocli is loaded only where it is used. */
  private static final class DurationConverter implements CommandLine.ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      try {
        return Durations.parse(text);
      } catch (IllegalArgumentException e) {
        throw new CommandLine.TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  /** Reads the version from the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Optional.ofNullable(Main.class.getPackage().getImplementationVersion())
          .or(() -> Optional.ofNullable(Holdfast.class.getPackage().getImplementationVersion()))
          .orElse("(unpackaged)");
      return new String[] {
        "holdfast " + version,
        "Java " + Runtime.version() + ", " + System.getProperty("os.name") + " "
            + System.getProperty("os.arch")
      };
    }
  }
}
