// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes what is logged in this JVM, and gives each line to the tests that it may come from. What Holdfast logs is judged; what
 * drivers log is kept alone, for a test that fails.
 */
final class Journal extends Handler {
  private static final Pattern LOCK = Pattern.compile("lock=\"?(\\S+?)\"?(?:[:,\\s]|$)");

  /** That the process stood still says something of the machine, and of no test. */
  private static final Pattern OF_THE_MACHINE = Pattern.compile("^the timer ran .* late:");

  /** Before a line that fails no test, so that {@code dev/results.py} finds it. */
  private static final String OF_NO_TEST = "warning of no test: ";

  private static final Formatter MESSAGES = new SimpleFormatter();

  private static final String OURS = "io.holdfast";

  /** What JUnit warns of is how the tests are written: no failure of a test would show it. */
  private static final String OF_JUNIT = "org.junit.";

  private static final Journal ONLY = new Journal();

  /** Held: a logger that is not forgets its handlers. */
  private final Logger ours = Logger.getLogger(OURS);

  private final Logger all = Logger.getLogger("");

  /** What has printed until now. */
  private final List<Handler> printers = List.of(all.getHandlers());

  private final Set<Announcements> tests = new LinkedHashSet<>();
  private final Set<Announcements> classes = new LinkedHashSet<>();

  /** Tests that have ended, and whose locks a line may still name, by the beginning of the locks' names. */
  private final Map<String, Announcements> ended = new HashMap<>();

  private Journal() {
    ours.setUseParentHandlers(false);
    ours.addHandler(this);
    printers.forEach(all::removeHandler);
    all.addHandler(this);
  }

  static Journal only() {
    return ONLY;
  }

  synchronized void opened(Announcements test) {
    tests.add(test);
  }

  synchronized void closed(Announcements test) {
    tests.remove(test);
    if (test.locks() != null) {
      ended.put(test.locks(), test);
    }
  }

  synchronized void openedClass(Announcements around) {
    classes.add(around);
  }

  synchronized void closedClass(Announcements around) {
    classes.remove(around);
  }

  @Override
  public void publish(LogRecord line) {
    // Not under our lock: what a driver logs may take one of its own to be written as text.
    String message = MESSAGES.formatMessage(line);
    String logger = String.valueOf(line.getLoggerName());
    if (logger.equals(OURS) || logger.startsWith(OURS + ".")) {
      judge(line, message, text(line, message));
    } else if (logger.startsWith(OF_JUNIT) || !isKept(text(line, logger + ": " + message))) {
      printers.forEach(each -> each.publish(line));
    }
  }

  /** Keeps what is not ours for the tests that run, between tests for the classes; says whether there are any. */
  private synchronized boolean isKept(String text) {
    Set<Announcements> around = tests.isEmpty() ? classes : tests;
    around.forEach(each -> each.keep(text));
    return !around.isEmpty();
  }

  private synchronized void judge(LogRecord line, String message, String text) {
    Set<Announcements> concerned = concerned(message);
    concerned.forEach(each -> each.keep(text));
    if (line.getLevel().intValue() < Level.WARNING.intValue()
        || OF_THE_MACHINE.matcher(message).find()) {
      return;
    }
    boolean accepted = false;
    for (Announcements each : concerned) {
      accepted |= each.accepts(message);
    }
    if (accepted) {
      return;
    }
    // a test that has ended cannot fail any more
    boolean late = !tests.containsAll(concerned) && !classes.containsAll(concerned);
    Set<Announcements> blamed = late ? classes : concerned;
    blamed.forEach(each -> each.blame(text));
    if (blamed.isEmpty()) {
      System.err.println(OF_NO_TEST + text);
    }
  }

  /**
   * The test whose lock it names; for a lock that no test has called its own, those that have called none so; for a line
   * without a lock all that run; between tests the classes that run.
   */
  private Set<Announcements> concerned(String message) {
    Matcher lock = LOCK.matcher(message);
    if (!lock.find()) {
      return Set.copyOf(tests.isEmpty() ? classes : tests);
    }
    String name = lock.group(1);
    Set<Announcements> others = new LinkedHashSet<>();
    for (Announcements each : tests) {
      String locks = each.locks();
      if (locks == null) {
        others.add(each);
      } else if (name.startsWith(locks)) {
        return Set.of(each);
      }
    }
    for (Map.Entry<String, Announcements> each : ended.entrySet()) {
      if (name.startsWith(each.getKey())) {
        return Set.of(each.getValue());
      }
    }
    return Set.copyOf(others.isEmpty() ? classes : others);
  }

  private static String text(LogRecord line, String message) {
    StringWriter text = new StringWriter();
    PrintWriter out = new PrintWriter(text);
    out.print(line.getLevel() + " " + message);
    if (line.getThrown() != null) {
      out.println();
      line.getThrown().printStackTrace(out);
    }
    out.flush();
    return text.toString().strip();
  }

  /** Prints what was logged around a failure. */
  static void print(String of, List<String> lines) {
    if (!lines.isEmpty()) {
      System.err.println("logged in " + of + ":");
      lines.forEach(System.err::println);
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
