// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.util.ResourceBundle;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Logs to {@code java.util.logging}, as the JDK does by itself, and so where {@link Warnings} listens: for tests of a program
 * whose class path has a finder of its own. Of several, the JDK takes the first on the class path; a module names this one in
 * {@code META-INF/services} among its tests' resources, which stand before all else.
 */
public final class HeardLoggers extends System.LoggerFinder {
  /** For the service loader. */
  public HeardLoggers() {}

  @Override
  public System.Logger getLogger(String name, Module module) {
    return new HeardLogger(Logger.getLogger(name));
  }

  private record HeardLogger(Logger logger) implements System.Logger {
    @Override
    public String getName() {
      return logger.getName();
    }

    @Override
    public boolean isLoggable(Level level) {
      return level != Level.OFF && logger.isLoggable(inItsWords(level));
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String message,
        @Nullable Throwable thrown) {
      if (isLoggable(level)) {
        LogRecord line = line(level, bundle, message);
        line.setThrown(thrown);
        logger.log(line);
      }
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String format,
        @Nullable Object @Nullable ... parameters) {
      if (isLoggable(level)) {
        LogRecord line = line(level, bundle, format);
        line.setParameters(parameters);
        logger.log(line);
      }
    }

    private LogRecord line(Level level, @Nullable ResourceBundle bundle, @Nullable String message) {
      LogRecord line = new LogRecord(inItsWords(level), message);
      line.setLoggerName(logger.getName());
      line.setResourceBundle(bundle);
      return line;
    }

    private static java.util.logging.Level inItsWords(Level level) {
      return switch (level) {
        case ALL -> java.util.logging.Level.ALL;
        case TRACE -> java.util.logging.Level.FINER;
        case DEBUG -> java.util.logging.Level.FINE;
        case INFO -> java.util.logging.Level.INFO;
        case WARNING -> java.util.logging.Level.WARNING;
        case ERROR -> java.util.logging.Level.SEVERE;
        case OFF -> java.util.logging.Level.OFF;
      };
    }
  }
}
