// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Causes;
import io.holdfast.spi.ConnectionAdvice;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/**
 * Why there is no connection: what the driver or the server said, on one line, and what to do about it. A pool says only that
 * it has none; the driver's exception is among the causes of the pool's, and what the driver met among those of its own.
 *
 * @param words the cause, in the words of the driver or the server
 * @param advice what to do, without a full stop; empty if that is not known
 * @param isRefusal whether it stays so until a person changes something
 */
record ConnectionTrouble(String words, String advice, boolean isRefusal) {
  /** MariaDB's driver counts its connections. */
  private static final Pattern NUMBER = Pattern.compile("^\\(conn=\\d+\\) ");

  /** Where in a statement of ours an error is says nothing to a person. */
  private static final Pattern POSITION = Pattern.compile("\\s+Position: \\d+$");

  private static final Pattern BLANKS = Pattern.compile("[\\s\\p{Cc}\\p{Cf}]+");
  private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{N}]+");

  private static final String CERTIFICATE =
      "let the driver trust the server's certificate, which must be for the host that the address names";
  private static final String LOGIN = "correct user and password in the address";
  private static final String DATABASE = "create the database, or correct its name in the address";
  private static final String DATABASE_OR_RIGHTS =
      "create the database, give this user rights on it, or correct the address";
  private static final String RIGHTS =
      "let this user create the tables, or create them with the output of \"holdfast ddl\" and give this user rights on them";
  private static final String PUBLIC_KEY =
      "use TLS, or set allowPublicKeyRetrieval=true in the address";

  /** A refusal that is known by its words: drivers and servers have no code for it that is its own. */
  private record Known(String words, String advice) {}

  private static final List<Known> KNOWN = List.of(
      new Known(
          "server does not support SSL",
          "switch TLS on in the server, or set sslmode=disable in the address"),
      new Known(
          "SSL Connection required, but not provided",
          "switch TLS on in the server, or set sslMode=DISABLED in the address"),
      // newer versions of the driver go on with the advice
      new Known("set sslMode=disable to permit", ""),
      new Known(
          "ssl not enabled in the server",
          "switch TLS on in the server, or set sslMode=disable in the address"),
      new Known("insecure transport are prohibited", "ask for TLS with sslMode in the address"),
      new Known("RSA public key is not available", PUBLIC_KEY),
      new Known("Public Key Retrieval is not allowed", PUBLIC_KEY));

  /** Looks at why a connection was not made. */
  static ConnectionTrouble of(SQLException e) {
    ConnectionTrouble answered = ofAnswer(e);
    return answered.isRefusal || !answered.advice.isEmpty()
        ? answered
        : new ConnectionTrouble(
            answered.words, unanswered(Causes.root(e), said(driversOwn(e))), false);
  }

  /** The same for a statement on a connection that is there: only what the server has answered tells what to do. */
  static ConnectionTrouble ofAnswer(SQLException e) {
    SQLException told = driversOwn(e);
    String said = said(told);
    for (Known each : KNOWN) {
      if (said.contains(each.words)) {
        return new ConnectionTrouble(said, each.advice, true);
      }
    }
    String state = Objects.requireNonNullElse(told.getSQLState(), "");
    String byCode = byCode(told.getErrorCode(), state, said);
    return byCode.isEmpty()
        ? new ConnectionTrouble(withRoot(said, Causes.root(e)), "", false)
        : new ConnectionTrouble(said, byCode, true);
  }

  private static String byCode(int code, String state, String said) {
    String byCode = switch (code) {
      case 1045, 1698 -> LOGIN;
      case 1049 -> DATABASE;
      case 1044 -> DATABASE_OR_RIGHTS;
      case 1142, 1143, 1227 -> RIGHTS;
      case 1665 -> "set the server's binlog_format to ROW";
      default -> "";
    };
    return byCode.isEmpty() ? byState(state, said) : byCode;
  }

  private static String byState(String state, String said) {
    if (said.contains("pg_hba.conf")) {
      return said.contains("no encryption") || said.contains("SSL off")
          ? "set sslmode=require in the address, or allow the connection in the server's pg_hba.conf"
          : "allow the connection in the server's pg_hba.conf, or correct the address";
    }
    return switch (state) {
      case "3D000" -> DATABASE;
      case "3F000" -> "create the schema, or correct holdfast.schema in the address";
      case "42501" -> RIGHTS;
      case "22021", "22P05" -> "use a database whose encoding is UTF8";
      default -> state.startsWith("28") ? LOGIN : "";
    };
  }

  private static String unanswered(Throwable root, String said) {
    if (root instanceof UnknownHostException) {
      return ConnectionAdvice.HOST;
    }
    if (root instanceof SocketTimeoutException || said.startsWith(LimitedSource.NO_ANSWER)) {
      return ConnectionAdvice.SILENT;
    }
    if (root instanceof ConnectException || root instanceof NoRouteToHostException) {
      return ConnectionAdvice.START;
    }
    if (root instanceof SSLException || root instanceof GeneralSecurityException) {
      return CERTIFICATE;
    }
    if (isAnotherProtocol(root, said)) {
      return ConnectionAdvice.ANOTHER_KIND;
    }
    return root instanceof EOFException || root instanceof SocketException
        ? ConnectionAdvice.HUNG_UP
        : "";
  }

  /** The first bytes of an answer are a length for MySQL's and MariaDB's drivers, and a letter for PostgreSQL's. */
  private static boolean isAnotherProtocol(Throwable root, String said) {
    return said.contains("received packet size")
        || said.startsWith("Packet for query is too large")
        || (root instanceof SQLException sql && "08P01".equals(sql.getSQLState()));
  }

  /** The last exception of SQL among the causes: before it are a pool's. */
  static SQLException driversOwn(SQLException e) {
    SQLException own = e;
    for (Throwable each : Causes.of(e)) {
      if (each instanceof SQLException sql) {
        own = sql;
      }
    }
    return own;
  }

  private static String said(Throwable e) {
    String message = Objects.requireNonNullElse(e.getMessage(), "");
    String line = BLANKS.matcher(message).replaceAll(" ").strip();
    line = POSITION.matcher(NUMBER.matcher(line).replaceFirst("")).replaceFirst("");
    line = line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    if (line.isEmpty()) {
      return e instanceof EOFException
          ? "the server closed the connection"
          : e.getClass().getSimpleName();
    }
    return line;
  }

  /** A driver's sentence may not tell what the network said; and what it tells after that is advice. */
  private static String withRoot(String said, Throwable root) {
    if (!(root instanceof IOException)) {
      return said;
    }
    String met = root instanceof UnknownHostException
        // a look-up that fails again says less than the first one
        ? "unknown host " + said(root).replaceFirst(":.*", "")
        : said(root);
    int end = said.indexOf(". ");
    String head = end < 0 ? said : said.substring(0, end);
    head = head.replaceFirst(" The last packet .*", "");
    if (hasWords(head, met)) {
      return head;
    }
    return hasWords(said, met) ? said : head + ": " + met;
  }

  private static boolean hasWords(String text, String words) {
    return wordsOf(text).containsAll(wordsOf(words));
  }

  private static List<String> wordsOf(String text) {
    return Arrays.stream(NO_WORD.split(text.toLowerCase(Locale.ROOT))).collect(Collectors.toList());
  }

  /** The words, and what to do if that is known. */
  String line() {
    return advice.isEmpty() ? words : words + "; " + advice;
  }
}
