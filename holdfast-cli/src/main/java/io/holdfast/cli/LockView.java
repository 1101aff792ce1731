// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.DurationText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How listings show a lock. Pure. */
final class LockView {
  private LockView() {}

  /** For {@code --json}. */
  static Map<String, Object> json(LockInfo info) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", info.name());
    fields.put("held", info.holder().isPresent());
    fields.put("token", Long.toString(info.token()));
    fields.put("holder", info.holder().map(holder -> {
      Map<String, Object> who = new LinkedHashMap<>();
      who.put("client", holder.client());
      who.put("host", holder.host());
      who.put("pid", holder.pid());
      who.put("thread", holder.thread());
      who.put("note", holder.note());
      return who;
    }));
    fields.put("since", info.since());
    fields.put("leaseLeftSeconds", info.leaseLeft());
    fields.put("keptUntil", info.keptUntil());
    Waiters waiters = info.waiters();
    fields.put("waiters", waiters.areAll() ? Optional.of(waiters.known()) : Optional.empty());
    fields.put("waitersAtLeast", waiters.known());
    return fields;
  }

  /** For people: one line for each lock, in columns. */
  static List<String> table(List<LockInfo> locks, long nowMillis) {
    int width = locks.stream()
        .mapToInt(info -> Failures.oneLine(info.name()).length())
        .max()
        .orElse(0);
    List<String> lines = new ArrayList<>();
    for (LockInfo info : locks) {
      String name = Failures.oneLine(info.name());
      String waiters = info.waiters().known() == 0 ? "" : ", " + info.waiters() + " waiting";
      lines.add(name + " ".repeat(width - name.length()) + "  " + Describe.holding(info, nowMillis)
          + waiters);
    }
    return lines;
  }

  /** For people: everything about one lock. */
  static List<String> details(LockInfo info, long nowMillis) {
    List<String> lines = new ArrayList<>();
    lines.add("lock        " + Failures.oneLine(info.name()));
    lines.add("state       " + Describe.holding(info, nowMillis));
    info.holder()
        .ifPresent(holder -> lines.add("holder      " + Failures.oneLine(holder.describe())));
    info.since().ifPresent(since -> lines.add("since       " + seconds(since)));
    if (info.holder().isPresent()) {
      lines.add("lease left  " + DurationText.of(info.leaseLeft()));
    }
    info.keptUntil().ifPresent(until -> lines.add("kept until  " + seconds(until)));
    lines.add("token       " + info.token());
    lines.add("waiting     " + info.waiters());
    return lines;
  }

  private static Instant seconds(Instant instant) {
    return Instant.ofEpochSecond(instant.getEpochSecond());
  }
}
