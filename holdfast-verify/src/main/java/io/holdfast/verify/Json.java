// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/** Strings for JSON, and for JSON within a page. */
final class Json {
  private static final String HEX = "0123456789abcdef";
  private static final int BITS = 4;
  private static final int DIGITS = 4;
  private static final int DIGIT = 15;

  private Json() {}

  /** Quotes a text; what would end a script in a page, or a line, is written by its number. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ' || c == '<' || c == '>' || c == '&' || c > '~') {
        quoted.append("\\u");
        for (int digit = DIGITS - 1; digit >= 0; digit--) {
          quoted.append(HEX.charAt((c >> (digit * BITS)) & DIGIT));
        }
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
