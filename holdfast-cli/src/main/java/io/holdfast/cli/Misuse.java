// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.spi.Spelling;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Words what is wrong with a command line, and what was probably meant. */
final class Misuse {
  /** What other programs call our commands. */
  private static final Map<String, String> MEANT = Map.of(
      "list", "ls",
      "lock", "run",
      "exec", "run",
      "status", "show",
      "unlock", "release",
      "check", "doctor");

  /** What to write where a word is missing. */
  private static final Map<String, String> FORMS = Map.of(
      "run", "holdfast run NAME -- COMMAND",
      "show", "holdfast show NAME",
      "release", "holdfast release --force NAME");

  private Misuse() {}

  /**
   * Returns one line.
   *
   * @param failure what picocli says
   * @param arguments the command line
   */
  static String line(CommandLine.ParameterException failure, List<String> arguments) {
    CommandLine where = failure.getCommandLine();
    List<String> unmatched = where.getUnmatchedArguments();
    Optional<String> option = unmatched.stream()
        .takeWhile(word -> !word.equals("--"))
        .filter(word -> word.startsWith("-"))
        .findFirst();
    if (option.isPresent()) {
      return noOption(option.get(), where.getCommandSpec());
    }
    if (failure instanceof CommandLine.UnmatchedArgumentException && !unmatched.isEmpty()) {
      return where.getSubcommands().isEmpty()
          ? "unexpected argument \"" + shown(unmatched.get(0)) + "\"" + more(where.getCommandSpec())
          : noCommand(unmatched.get(0), where);
    }
    if (failure instanceof CommandLine.MissingParameterException incomplete
        && !incomplete.getMissing().isEmpty()) {
      return missing(incomplete.getMissing(), where.getCommandSpec(), arguments);
    }
    return failure.getMessage() + more(where.getCommandSpec());
  }

  private static String missing(
      List<ArgSpec> missing, CommandSpec command, List<String> arguments) {
    ArgSpec first =
        missing.stream().filter(ArgSpec::isPositional).findFirst().orElse(missing.get(0));
    String advice = "; write " + FORMS.get(command.name());
    if (first instanceof OptionSpec option) {
      return option.required()
          ? "no " + option.longestName() + ", which confirms that the holder is not asked" + advice
          : "no value after " + option.longestName() + "; write " + option.longestName() + " "
              + option.paramLabel();
    }
    if (!first.paramLabel().equals("COMMAND")) {
      return "no NAME of a lock" + advice;
    }
    // picocli takes the first word for NAME, also behind the --
    boolean isNameMissing =
        arguments.size() > 1 && arguments.get(arguments.size() - 2).equals("--");
    return (isNameMissing ? "no NAME of a lock before --" : "no command to run") + advice;
  }

  private static String noCommand(String word, CommandLine program) {
    List<String> commands = program.getSubcommands().entrySet().stream()
        .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey)
        .toList();
    return Optional.ofNullable(MEANT.get(word))
        .or(() -> Spelling.nearest(word, commands))
        .map(meant -> "no command \"" + word + "\"; did you mean " + meant + "?")
        .orElseGet(() -> "no command \"" + shown(word) + "\"; there are "
            + String.join(", ", commands) + more(program.getCommandSpec()));
  }

  private static String noOption(String word, CommandSpec command) {
    String name = name(word);
    if (isOptionOfRun(name) && !command.subcommands().isEmpty()) {
      return "\"" + name
          + "\" is an option of the commands: write it after the command's name, as in "
          + command.name() + " run " + name;
    }
    return "no option \"" + name + "\""
        + Spelling.nearest(name, command.optionsMap().keySet())
            .map(meant -> "; did you mean " + meant + "?")
            .orElseGet(() -> more(command));
  }

  /** A word, unless it is an address, which may hold a password. */
  private static String shown(String word) {
    int address = word.indexOf("://");
    if (address >= 0) {
      return word.substring(0, address) + "://...";
    }
    int scheme = word.indexOf(':');
    return scheme >= 0 && scheme < word.indexOf('@') ? word.substring(0, scheme) + ":..." : word;
  }

  /** An option without its value. */
  private static String name(String word) {
    int equals = word.indexOf('=');
    return equals > 0 ? word.substring(0, equals) : word;
  }

  private static String more(CommandSpec command) {
    return " ('" + command.qualifiedName() + " --help' tells more)";
  }

  /** Whether a word that stands in another place is an option of {@code run}. */
  static boolean isOptionOfRun(String word) {
    return word.startsWith("-")
        && Main.runCommand().getCommandSpec().optionsMap().containsKey(name(word));
  }
}
