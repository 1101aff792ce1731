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
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What must not be shown of an address that a driver reads. If a driver does not understand an address, it quotes a piece of it,
 * and may split a password that we read as one. So every word of a password, of three characters or more, is masked in the
 * driver's messages, unless the address shows the word elsewhere.
 */
final class AddressSecrets {
  private static final String OF_A_PASSWORD = "([\\w.]*pass(?:word|wd|phrase)[\\w.]*)";

  /** Where a parameter behind the question mark begins; group 1 is its name if it is a password's. */
  private static final Pattern PARAMETER =
      Pattern.compile("(?:^|&)(?:" + OF_A_PASSWORD + "|[\\w.]+)=", Pattern.CASE_INSENSITIVE);

  /** The same of a host's parameter, which MySQL's and MariaDB's drivers take: other names may be a part of a password. */
  private static final Pattern OF_A_HOST = Pattern.compile(
      "[(),]\\s*(?:" + OF_A_PASSWORD
          + "|host|port|address|user|protocol|path|type|priority|weight)\\s*=",
      Pattern.CASE_INSENSITIVE);

  private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{N}]+");

  /** Shorter words occur inside too many others. */
  private static final int MIN_WORD_LENGTH = 3;

  /** Causes may form a cycle. */
  private static final int MAX_DEPTH = 20;

  /** A failure that carries more is taken for one that quotes a password. */
  private static final int MOST_LOOKED_AT = 100;

  private static final String HIDDEN = "***";

  /** A driver says these whatever the password is: to mask them would show that it is one of them. */
  private static final String DRIVERS_WORDS =
      " password user authentication failed access denied using ";

  private static final String NO_LETTER_BEFORE = "(?<![\\p{L}\\p{N}])";
  private static final String NO_LETTER_BEHIND = "(?![\\p{L}\\p{N}])";

  /** The longest first: one may be a part of another. */
  private final List<Pattern> words;

  private AddressSecrets(List<Pattern> words) {
    this.words = words;
  }

  static AddressSecrets of(String url) {
    StringBuilder shown = new StringBuilder(url);
    List<String> secrets = new ArrayList<>();
    int host = url.indexOf("//") + 2;
    int at = host < 2 ? -1 : endOfLogin(url, host);
    int colon = url.indexOf(':', host);
    int question = url.indexOf('?', Math.max(0, at));
    if (colon >= 0 && colon < at) {
      hide(colon + 1, at, shown, secrets);
    }
    hideValues(OF_A_HOST.matcher(url), shown, secrets);
    hideValues(PARAMETER.matcher(url).region(question + 1, url.length()), shown, secrets);
    TreeSet<String> words = new TreeSet<>(Comparator.comparingInt(String::length)
        .reversed()
        .thenComparing(Comparator.naturalOrder()));
    for (String secret : secrets) {
      for (String form : List.of(secret, decoded(secret))) {
        words.add(form);
        words.addAll(List.of(NO_WORD.split(form)));
      }
    }
    shown.append(DRIVERS_WORDS);
    return new AddressSecrets(words.stream()
        .filter(each -> each.length() >= MIN_WORD_LENGTH)
        .map(each -> Pattern.compile(NO_LETTER_BEFORE + Pattern.quote(each) + NO_LETTER_BEHIND))
        .filter(each -> !each.matcher(shown).find())
        .toList());
  }

  /** Where a value ends that is a password's is for the driver to know: at the next parameter at the latest. */
  private static void hideValues(Matcher parameter, StringBuilder shown, List<String> secrets) {
    int end = parameter.regionEnd();
    int from = -1;
    while (parameter.find()) {
      if (from >= 0) {
        hide(from, parameter.start(), shown, secrets);
      }
      from = parameter.group(1) == null ? -1 : parameter.end();
    }
    if (from >= 0) {
      hide(from, end, shown, secrets);
    }
  }

  /**
   * Returns where the {@code @} is behind user and password; -1 if there is none. A password may have one too, and a question
   * mark: then what is before that is no host and path.
   */
  private static int endOfLogin(String url, int host) {
    int question = url.indexOf('?', host);
    int last = url.lastIndexOf('@');
    if (question < 0 || last < question) {
      return last < host ? -1 : last;
    }
    int at = url.lastIndexOf('@', question);
    int slash = url.indexOf('/', Math.max(host, at));
    boolean hasPath = slash >= 0 && slash < question;
    int equals = url.indexOf('=', question);
    boolean isParameter = hasPath && equals >= 0 && equals < url.indexOf('@', question);
    return isParameter ? (at < host ? -1 : at) : last;
  }

  private static void hide(int from, int to, StringBuilder shown, List<String> secrets) {
    secrets.add(shown.substring(from, to));
    for (int i = from; i < to; i++) {
      shown.setCharAt(i, ' ');
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
    for (Pattern each : words) {
      clean = each.matcher(clean).replaceAll(HIDDEN);
    }
    return clean;
  }

  /**
   * Throws a masked copy of an exception if it, or one that it carries, quotes a password. The copy of an {@link SQLException} has
   * its type, SQLState and code.
   */
  void throwIfQuoted(Throwable e) throws SQLException {
    if (quotes(e, Collections.newSetFromMap(new IdentityHashMap<>()))) {
      throw clean(e, 0);
    }
  }

  private boolean quotes(@Nullable Throwable e, Set<Throwable> seen) {
    return e != null
        && seen.add(e)
        && (seen.size() > MOST_LOOKED_AT
            || isQuoting(e)
            || quotes(e.getCause(), seen)
            || (e instanceof SQLException sql && quotes(sql.getNextException(), seen))
            || Stream.of(e.getSuppressed()).anyMatch(each -> quotes(each, seen)));
  }

  private boolean isQuoting(Throwable e) {
    String said = said(e);
    return !without(said).equals(said);
  }

  private static String said(Throwable e) {
    return Objects.requireNonNullElse(e.getMessage(), "");
  }

  private SQLException clean(Throwable e, int depth) {
    SQLException same = e instanceof SQLException sql
        ? clean(sql, depth)
        : new SQLException(e.getClass().getName() + ": " + without(said(e)), cleanCause(e, depth));
    same.setStackTrace(e.getStackTrace());
    return same;
  }

  /** Leaves out the next and the suppressed exceptions. */
  private SQLException clean(SQLException e, int depth) {
    String message = without(said(e));
    String state = e.getSQLState();
    int code = e.getErrorCode();
    Throwable cause = cleanCause(e, depth);
    if (e instanceof SQLTimeoutException) {
      return new SQLTimeoutException(message, state, code, cause);
    }
    if (e instanceof SQLTransientConnectionException) {
      return new SQLTransientConnectionException(message, state, code, cause);
    }
    if (e instanceof SQLInvalidAuthorizationSpecException) {
      return new SQLInvalidAuthorizationSpecException(message, state, code, cause);
    }
    if (e instanceof SQLNonTransientConnectionException) {
      return new SQLNonTransientConnectionException(message, state, code, cause);
    }
    return e instanceof SQLRecoverableException
        ? new SQLRecoverableException(message, state, code, cause)
        : new SQLException(message, state, code, cause);
  }

  private @Nullable Throwable cleanCause(Throwable e, int depth) {
    Throwable cause = e.getCause();
    return cause == null || depth == MAX_DEPTH ? null : clean(cause, depth + 1);
  }
}
