// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What was counted, as tables: first what servers were asked, then bytes.
 *
 * @param rows by the row's name, then by the column's
 */
record GuardTable(Map<String, Map<String, Long>> rows) {
  /** The column whose numbers may differ a little. */
  static final String BYTES = "bytes";

  /**
   * The same code gave numbers at most 1.2 % apart in seven runs on a busy machine: 0.1 % for a cycle on the map, 1.2 % for a
   * hand-over, 0.5 % through a server.
   */
  static final int PERCENT = 5;

  /** Less than the smallest object. */
  static final int FEW_BYTES = 8;

  private static final String SEPARATOR = ", ";
  private static final String MORE =
      ". That is more than before: find out what asks for it (dev/guard counts it alone), and take"
          + " it away; if it must be, say why in the commit and write the table again (dev/guard"
          + " --write)";

  private static final String LESS =
      ". That is less than before: write the table again (dev/guard --write), so that it stays so";

  private static final Pattern NUMBER = Pattern.compile("-?\\d+");

  /** Reads what {@link #text} has made, and the words around it. */
  static GuardTable parse(String document) {
    Map<String, Map<String, Long>> rows = new LinkedHashMap<>();
    List<String> header = List.of();
    for (String line : document.lines().toList()) {
      if (!line.startsWith("|")) {
        header = List.of();
        continue;
      }
      List<String> cells = cells(line);
      if (header.isEmpty()) {
        header = cells;
      } else if (NUMBER.matcher(cells.get(cells.size() - 1)).matches()) {
        int names =
            (int) cells.stream().filter(cell -> !NUMBER.matcher(cell).matches()).count();
        Map<String, Long> row = new LinkedHashMap<>();
        for (int i = names; i < cells.size(); i++) {
          row.put(header.get(i), Long.parseLong(cells.get(i)));
        }
        rows.put(String.join(SEPARATOR, cells.subList(0, names)), row);
      }
    }
    return new GuardTable(rows);
  }

  private static List<String> cells(String line) {
    return Arrays.stream(line.substring(1).split("\\|", -1))
        .map(String::strip)
        .filter(cell -> !cell.isEmpty())
        .toList();
  }

  /** Returns the tables as a document has them. */
  String text() {
    StringBuilder text = new StringBuilder();
    Map<String, Long> before = Map.of();
    for (Map.Entry<String, Map<String, Long>> row : rows.entrySet()) {
      Map<String, Long> counts = row.getValue();
      if (!counts.keySet().equals(before.keySet())) {
        text.append(text.isEmpty() ? "" : "\n").append(header(row.getKey(), counts));
        before = counts;
      }
      List<String> cells = new ArrayList<>(List.of(row.getKey().split(SEPARATOR, -1)));
      counts.values().forEach(count -> cells.add(Long.toString(count)));
      text.append(line(cells));
    }
    return text.toString();
  }

  private static String header(String row, Map<String, Long> counts) {
    List<String> cells =
        new ArrayList<>(row.contains(SEPARATOR) ? List.of("store", "counted") : List.of("what"));
    String names = "|---".repeat(cells.size());
    cells.addAll(counts.keySet());
    return line(cells) + names + "|---:".repeat(counts.size()) + "|\n";
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }

  /**
   * Says what differs, and what to do about it.
   *
   * @param measured the same, of today; stores without a server may be missing
   * @return nothing if this table still holds
   */
  List<String> complaints(GuardTable measured) {
    List<String> complaints = new ArrayList<>();
    measured.rows.forEach((name, counts) -> {
      Map<String, Long> known = rows.getOrDefault(name, Map.of());
      if (!known.keySet().equals(counts.keySet())) {
        complaints.add(name + ": the table has " + known.keySet() + ", and " + counts.keySet()
            + " was measured: write it again (dev/guard --write)");
        return;
      }
      counts.forEach((what, count) -> {
        long expected = known.getOrDefault(what, 0L);
        if (differ(what, expected, count)) {
          complaints.add(name + ": " + what + ": " + count + ", and the table has " + expected
              + (count > expected ? MORE : LESS));
        }
      });
    });
    return complaints;
  }

  private static boolean differ(String what, long expected, long count) {
    long apart = Math.abs(count - expected);
    return what.equals(BYTES) ? apart > Math.max(FEW_BYTES, expected * PERCENT / 100) : apart > 0;
  }
}
