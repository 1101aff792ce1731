// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What one server's answers to {@code srvr} and {@code conf} mean. */
final class ServerReport {
  private static final Pattern VERSION =
      Pattern.compile("version: ((\\d+)\\.(\\d+)\\.(\\d+)[\\w.]*)");
  private static final Pattern MODE = Pattern.compile("(?m)^Mode: (.+)$");
  private static final String NOT_ALLOWED = "is not executed because";

  private ServerReport() {}

  /** Judges the answer to {@code srvr}; null: there was none. */
  static Finding srvr(String server, @Nullable String answer) {
    String subject = "server " + server;
    if (answer == null) {
      return new Finding(
          Level.PROBLEM, subject, "does not answer", "look at that machine and what is between");
    }
    if (answer.contains(NOT_ALLOWED)) {
      return new Finding(
          Level.WARNING,
          subject,
          "answers, but does not say how it is",
          "allow its administrators' word: 4lw.commands.whitelist=srvr,conf");
    }
    if (!ConnectionTrouble.isZooKeepers(answer)) {
      return new Finding(
          Level.PROBLEM,
          subject,
          "is another kind of server",
          "correct host and port in the address");
    }
    Matcher mode = MODE.matcher(answer);
    Matcher version = VERSION.matcher(answer);
    if (!version.find() && !mode.find()) {
      return new Finding(
          Level.PROBLEM,
          subject,
          "runs, but does not serve: it has no quorum",
          "are most of the ensemble's servers running, and do they reach each other?");
    }
    mode.reset();
    String said = mode.find() ? mode.group(1).strip() : "";
    if (said.equals("read-only")) {
      return new Finding(
          Level.PROBLEM,
          subject,
          "is read-only: it is cut off from most of the ensemble",
          "locks need a quorum; let most of the servers run and reach each other");
    }
    version.reset();
    String release = version.find() ? version.group(1) : "of an unknown version";
    if (version.reset().find() && isTooOld(version)) {
      return new Finding(
          Level.PROBLEM,
          subject,
          "ZooKeeper " + release + " cannot tell a session's own nodes",
          "use 3.6 or a later version");
    }
    return new Finding(
        Level.OK, subject, "ZooKeeper " + release + (said.isEmpty() ? "" : ", " + said), "");
  }

  private static boolean isTooOld(Matcher version) {
    int major = Integer.parseInt(version.group(2));
    int minor = Integer.parseInt(version.group(3));
    return major < 3 || (major == 3 && minor < 6);
  }

  /** Whether it says that it is no member of an ensemble. */
  static boolean isAlone(@Nullable String srvr) {
    return srvr != null && srvr.contains("Mode: standalone");
  }

  /** Judges the answer to {@code conf}: the limits that leases and sessions come to. Empty if it is not told. */
  static List<Finding> conf(String server, String answer, ZooKeeperSettings settings) {
    List<Finding> findings = new ArrayList<>();
    Optional<Duration> tick = millis(answer, "tickTime");
    if (tick.isPresent() && tick.get().compareTo(settings.tick()) > 0) {
      findings.add(new Finding(
          Level.PROBLEM,
          "tick of " + server,
          "a tick of " + DurationText.exact(tick.get()) + " is longer than the "
              + DurationText.exact(settings.tick()) + " by which sessions outlast leases",
          "holdfast.tick=" + tick.get().toMillis() + "ms or more"));
    }
    Duration needed = settings.longestLease().plus(settings.tick());
    Optional<Duration> most = millis(answer, "maxSessionTimeout");
    if (most.isPresent() && most.get().compareTo(needed) < 0) {
      findings.add(new Finding(
          Level.PROBLEM,
          "session limit of " + server,
          "sessions of " + DurationText.exact(most.get()) + " at most; the longest lease needs "
              + DurationText.exact(needed),
          "raise maxSessionTimeout, or lower holdfast.longest-lease"));
    }
    Optional<Duration> least = millis(answer, "minSessionTimeout");
    if (tick.isPresent() && least.isPresent()) {
      findings.add(new Finding(
          Level.OK,
          "limits of " + server,
          "tickTime " + DurationText.exact(tick.get()) + "; a dead holder's lock stays for "
              + DurationText.exact(least.get())
              + " (minSessionTimeout) or its lease, whichever is longer",
          ""));
    }
    return findings;
  }

  private static Optional<Duration> millis(String answer, String name) {
    Matcher line = Pattern.compile("(?m)^" + name + "=(\\d+)$").matcher(answer);
    return line.find()
        ? Optional.of(Duration.ofMillis(Long.parseLong(line.group(1))))
        : Optional.empty();
  }
}
