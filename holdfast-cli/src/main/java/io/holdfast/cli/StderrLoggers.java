// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.util.Locale;
import java.util.ResourceBundle;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Logs to stderr what {@link Logging} lets through. The default would load {@code java.util.logging}, which takes time. */
public final class StderrLoggers extends System.LoggerFinder {
  /** Called by the service loader. */
  public StderrLoggers() {}

  @Override
  public System.Logger getLogger(String name, Module module) {
    return new StderrLogger(name);
  }

  private record StderrLogger(String name) implements System.Logger {
    @Override
    public String getName() {
      return name;
    }

    @Override
    public boolean isLoggable(Level level) {
      return Logging.shows(level);
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String message,
        @Nullable Throwable thrown) {
      if (isLoggable(level)) {
        StringWriter text = new StringWriter();
        text.append("holdfast: ").append(level.toString()).append(": ").append(message);
        if (thrown != null) {
          PrintWriter trace = new PrintWriter(text.append(System.lineSeparator()), true);
          thrown.printStackTrace(trace);
        }
        Stderr.ours()
            .line(text.toString()
                .stripTrailing()
                .lines()
                .map(StderrLogger::harmless)
                .collect(Collectors.joining("\n")));
      }
    }

    /** The tabs of a stack trace stay. */
    private static String harmless(String line) {
      int tabs = 0;
      while (tabs < line.length() && line.charAt(tabs) == '\t') {
        tabs++;
      }
      return line.substring(0, tabs) + Failures.harmless(line.substring(tabs));
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String format,
        @Nullable Object @Nullable ... parameters) {
      if (isLoggable(level)) {
        boolean plain = format == null || parameters == null || parameters.length == 0;
        log(
            level,
            bundle,
            plain ? format : new MessageFormat(format, Locale.ROOT).format(parameters),
            (Throwable) null);
      }
    }
  }
}
