// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The clock that {@code supervise.sh} reads too, so that it needs no word from us to know how much of a time is left: the
 * machine's since it was started, which goes on while it is suspended; the time of day on a machine without {@code /proc}.
 */
final class SharedClock {
  /** The one of this machine. */
  static final Path UPTIME = Path.of("/proc/uptime");

  private static final Pattern SECONDS = Pattern.compile("([0-9]+)\\.([0-9])[0-9] .*\n");

  private final Path uptime;
  private final boolean hasUptime;
  private final Ticker ticker;

  /**
   * Chooses the clock once: what was told by one means nothing on the other.
   *
   * @param uptime where the machine's clock is
   * @param ticker for the time of day
   */
  SharedClock(Path uptime, Ticker ticker) {
    this.uptime = uptime;
    this.hasUptime = Files.exists(uptime);
    this.ticker = ticker;
  }

  /** Returns tenths of a second since some time, rounded down; empty if they cannot be read now. */
  OptionalLong tenths() {
    if (!hasUptime) {
      return OptionalLong.of(ticker.wallMillis() / 100);
    }
    try {
      Matcher seconds = SECONDS.matcher(Files.readString(uptime));
      if (seconds.matches()) {
        return OptionalLong.of(Long.parseLong(seconds.group(1) + seconds.group(2)));
      }
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.DEBUG, "not understood: what " + uptime + " says");
    } catch (IOException e) {
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.DEBUG, "cannot read " + uptime, e);
    }
    return OptionalLong.empty();
  }
}
