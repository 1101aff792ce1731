// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.SQLInvalidAuthorizationSpecException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What must not be shown of an address that a driver reads. A driver that does not understand an address quotes a piece of it,
 * and where it cuts is its own affair: a password with a parenthesis is one for us and two pieces for it. So each word of a
 * password is left out of what the driver says, unless the address shows that word elsewhere too.
 */
final class AddressSecrets {
  /** Where a parameter begins; and its name, if that is one of a password. */
  private static final Pattern PARAMETER = Pattern.compile(
      "(?:^|[?&(),;])\\s*(?:([\\w.]*pass(?:word|wd|phrase)[\\w.]*)|[\\w.]+)\\s*=",
      Pattern.CASE_INSENSITIVE);

  private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{N}]+");

  /** A shorter word is in too many others. */
  private static final int SHORTEST = 3;

  /** Causes may be a ring. */
  private static final int DEEPEST = 20;

  private static final String HIDDEN = "***";

  /** The longest first: one may be a part of another. */
  private final List<String> words;

  private AddressSecrets(List<String> words) {
    this.words = words;
  }

  static AddressSecrets of(String url) {
    StringBuilder open = new StringBuilder(url);
    List<String> secrets = new ArrayList<>();
    int host = url.indexOf("//") + 2;
    int at = endOfLogin(url, host);
    int colon = url.indexOf(':', host);
    if (host >= 2 && colon >= 0 && colon < at) {
      hide(colon + 1, at, open, secrets);
    }
    Matcher parameter = PARAMETER.matcher(url);
    int from = -1;
    for (boolean found = true; found; ) {
      found = parameter.find();
      if (from >= 0) {
        hide(from, found ? parameter.start() : url.length(), open, secrets);
      }
      from = found && parameter.group(1) != null ? parameter.end() : -1;
    }
    TreeSet<String> words = new TreeSet<>(Comparator.comparingInt(String::length)
        .reversed()
        .thenComparing(Comparator.naturalOrder()));
    for (String secret : secrets) {
      for (String form : List.of(secret, decoded(secret))) {
        words.add(form);
        words.addAll(List.of(NO_WORD.split(form)));
      }
    }
    words.removeIf(each -> each.length() < SHORTEST || open.indexOf(each) >= 0);
    return new AddressSecrets(List.copyOf(words));
  }

  /** Returns where the {@code @} is behind user and password; -1 if there is none. A password may have one too, and a question mark. */
  private static int endOfLogin(String url, int host) {
    int question = url.indexOf('?', host);
    int at = url.lastIndexOf('@', question < 0 ? url.length() : question);
    if (at > host || question < 0) {
      return at;
    }
    int behind = url.indexOf('@', question);
    int equals = url.indexOf('=', question);
    boolean isParameter = equals >= 0 && equals < behind;
    return isParameter ? -1 : url.lastIndexOf('@');
  }

  private static void hide(int from, int to, StringBuilder open, List<String> secrets) {
    secrets.add(open.substring(from, to));
    for (int i = from; i < to; i++) {
      open.setCharAt(i, ' ');
    }
  }

  private static String decoded(String secret) {
    try {
      return URLDecoder.decode(secret, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // a driver does not decode it either
      return secret;
    }
  }

  /** Returns a text without what must not be shown. */
  String without(String text) {
    String clean = text;
    for (String each : words) {
      clean = clean.replace(each, HIDDEN);
    }
    return clean;
  }

  /** Returns the same failure, or if it or one of its causes quotes a password, one of its kind that does not. */
  SQLException without(SQLException e) {
    return quotes(e, 0) ? clean(e, 0) : e;
  }

  /** As {@link #without(SQLException)}. */
  RuntimeException without(RuntimeException e) {
    return quotes(e, 0)
        ? stackOf(e, new IllegalStateException(without(e.toString()), cleanCause(e, 0)))
        : e;
  }

  private boolean quotes(@Nullable Throwable e, int depth) {
    return e != null
        && depth < DEEPEST
        && (isQuoting(e)
            || quotes(e.getCause(), depth + 1)
            || (e instanceof SQLException sql && quotes(sql.getNextException(), depth + 1))
            || List.of(e.getSuppressed()).stream().anyMatch(each -> quotes(each, depth + 1)));
  }

  private boolean isQuoting(Throwable e) {
    String said = e.toString();
    return !without(said).equals(said);
  }

  /** What follows it, and what was suppressed, is left out. */
  private SQLException clean(SQLException e, int depth) {
    String message = without(Objects.requireNonNullElse(e.getMessage(), ""));
    String state = e.getSQLState();
    int code = e.getErrorCode();
    Throwable cause = cleanCause(e, depth);
    SQLException same;
    if (e instanceof SQLTimeoutException) {
      same = new SQLTimeoutException(message, state, code, cause);
    } else if (e instanceof SQLTransientConnectionException) {
      same = new SQLTransientConnectionException(message, state, code, cause);
    } else if (e instanceof SQLInvalidAuthorizationSpecException) {
      same = new SQLInvalidAuthorizationSpecException(message, state, code, cause);
    } else if (e instanceof SQLNonTransientConnectionException) {
      same = new SQLNonTransientConnectionException(message, state, code, cause);
    } else if (e instanceof SQLRecoverableException) {
      same = new SQLRecoverableException(message, state, code, cause);
    } else {
      same = new SQLException(message, state, code, cause);
    }
    return stackOf(e, same);
  }

  private @Nullable Throwable cleanCause(Throwable e, int depth) {
    Throwable cause = e.getCause();
    if (cause == null || depth >= DEEPEST) {
      return null;
    }
    if (cause instanceof SQLException sql) {
      return clean(sql, depth + 1);
    }
    return stackOf(
        cause, new IllegalStateException(without(cause.toString()), cleanCause(cause, depth + 1)));
  }

  private static <T extends Throwable> T stackOf(Throwable e, T same) {
    same.setStackTrace(e.getStackTrace());
    return same;
  }
}
