// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Writes JSON: objects are maps, arrays are lists. Tokens go in as text: a 63-bit number does not survive a reader that
 * takes every number for a double.
 */
final class Json {
  private Json() {}

  /** Writes a value; {@link Optional#empty()} becomes null, an instant ISO 8601, a duration seconds. */
  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    append(value, out);
    return out.toString();
  }

  private static void append(Object value, StringBuilder out) {
    if (value instanceof Optional<?> optional) {
      optional.ifPresentOrElse(inner -> append(inner, out), () -> out.append("null"));
    } else if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(separator);
        appendText(entry.getKey().toString(), out);
        out.append(": ");
        append(entry.getValue(), out);
        separator = ", ";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      String separator = "[";
      for (Object element : list) {
        out.append(separator);
        append(element, out);
        separator = ", ";
      }
      out.append(list.isEmpty() ? "[]" : "]");
    } else if (value instanceof Integer
        || value instanceof Long
        || value instanceof Boolean
        || (value instanceof Double number && Double.isFinite(number))) {
      out.append(value);
    } else if (value instanceof Duration duration) {
      out.append(duration.toMillis() / 1000).append('.');
      out.append(String.format(Locale.ROOT, "%03d", duration.toMillis() % 1000));
    } else if (value instanceof String || value instanceof Instant || value instanceof Enum<?>) {
      appendText(value.toString(), out);
    } else {
      throw new IllegalArgumentException("no JSON for " + value.getClass());
    }
  }

  private static void appendText(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (Failures.isControl(c) || Character.isSurrogate(c)) {
        // Surrogates too: a lone one would not be valid in any encoding of the output.
        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
