// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Causes;
import io.holdfast.spi.ConnectionAdvice;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.RedisProtocolException;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Why there is no connection: what the driver or the server said, on one line, and what to do about it. The driver says only
 * that it could not connect; what it met is among the causes.
 *
 * @param words the cause, in the words of the driver or the server
 * @param advice what to do, without a full stop; empty if that is not known
 * @param reason whether waiting may help
 */
record ConnectionTrouble(String words, String advice, Reason reason) {
  private static final Pattern BLANKS = Pattern.compile("[\\s\\p{Cc}\\p{Cf}]+");

  /** Where in a script of ours an error is says nothing to a person. */
  private static final Pattern SCRIPT = Pattern.compile(" script: \\w+, on @\\w+:\\d+\\.?$");

  /** What a server goes on with after its first words. */
  private static final Pattern MORE = Pattern.compile("(, otherwise |, with args |\\. ).*$");

  /** A host's name before a slash, if there is one, and its address behind it, if it was looked up. */
  private static final Pattern SOCKET =
      Pattern.compile("([^\\s/]*)/(<unresolved>|[\\[\\]\\p{XDigit}:.%]+):(\\d+)");

  /** The call of the operating system that failed, which the driver's own transports name. */
  private static final Pattern CALL =
      Pattern.compile("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ");

  private static final Pattern CLASS = Pattern.compile("(?:\\w+\\.)+\\w+(?:Exception|Error): ");
  private static final Pattern RESOLVED = Pattern.compile("resolve '([^']+)'");

  /** Where in a buffer of the driver's something was says nothing to a person, nor does what a record is in hexadecimal. */
  private static final Pattern BUFFER =
      Pattern.compile("( at buffer index |(?<=not an SSL/TLS record): ).*$");

  /** A record that is none is quoted in hexadecimal: a server that speaks as Redis does answers a line, or an error. */
  private static final Pattern PLAIN_ANSWER = Pattern.compile("record: 2[bd]");

  static final String LOGIN = "correct user and password in the address";
  private static final String SILENT_TO_TLS =
      "check that the server speaks TLS, that it answers other clients, and that no firewall is in between";
  private static final String HUNG_UP_ON_PLAIN_TEXT =
      "if the server wants TLS, ask for it in the address, otherwise read the server's log or correct host and port in the address";
  private static final String NOT_TLS =
      "switch TLS on in the server, or write redis:// without holdfast.tls";
  private static final String NAME =
      "write the host's name as the server's certificate has it, or set holdfast.tls-verify=ca";
  private static final String CERTIFICATE =
      "name the authority that issued the server's certificate with holdfast.tls-ca, and check that the certificate is for the host in the address";
  private static final String PRIMARY =
      "correct the primary's name in the address, or let the sentinels watch over it";
  private static final String SENTINELS_LOGIN =
      "correct holdfast.sentinel-user and holdfast.sentinel-password in the address";

  /** What the driver's failure to open a connection through TLS is wrapped in: it does not always show by itself. */
  static final class OverTls extends RedisException {
    private static final long serialVersionUID = 1L;

    OverTls(Throwable cause) {
      super("through TLS", cause);
    }
  }

  /** Looks at why a connection was not made. */
  static ConnectionTrouble of(Throwable failure) {
    List<Throwable> causes = Causes.of(failure);
    boolean isSentinels = causes.stream()
        .anyMatch(each -> messageOf(each).startsWith("Cannot connect to a Redis Sentinel"));
    RedisCommandExecutionException answered =
        RedisErrors.find(RedisCommandExecutionException.class, failure);
    if (answered != null) {
      return ofAnswer(messageOf(answered), isSentinels);
    }
    ConnectionTrouble trouble = unanswered(causes);
    return isSentinels
        ? new ConnectionTrouble(
            "no sentinel answers: " + trouble.words, trouble.advice, trouble.reason)
        : trouble;
  }

  private static ConnectionTrouble ofAnswer(String message, boolean isSentinels) {
    RedisErrors.Meaning known = RedisErrors.meaning(message);
    String words = firstWords(message);
    if (isSentinels) {
      boolean isLogin = known != null && known.reason() == Reason.REFUSED;
      return new ConnectionTrouble(
          "the sentinel says " + words,
          isLogin ? SENTINELS_LOGIN : "read the sentinel's log",
          known == null ? Reason.REFUSED : known.reason());
    }
    if (known != null) {
      return new ConnectionTrouble(words, known.advice(), known.reason());
    }
    boolean isAnotherKind = message.startsWith("ERR unknown command");
    return new ConnectionTrouble(
        words,
        isAnotherKind ? ConnectionAdvice.ANOTHER_KIND : ConnectionAdvice.HUNG_UP,
        Reason.REFUSED);
  }

  private static ConnectionTrouble unanswered(List<Throwable> causes) {
    ConnectionTrouble network = network(causes);
    if (network != null) {
      return network;
    }
    NotSslRecordException noRecord = first(NotSslRecordException.class, causes);
    if (noRecord != null) {
      return PLAIN_ANSWER.matcher(messageOf(noRecord)).find()
          ? new ConnectionTrouble(said(noRecord), NOT_TLS, Reason.REFUSED)
          : unreachable(noRecord, ConnectionAdvice.ANOTHER_KIND);
    }
    SSLHandshakeException handshake = first(SSLHandshakeException.class, causes);
    Throwable root = told(causes.get(causes.size() - 1));
    if (handshake != null && !isClosed(handshake)) {
      return certificates(said(root));
    }
    if (root instanceof RedisProtocolException) {
      return unreachable(root, ConnectionAdvice.ANOTHER_KIND);
    }
    if (messageOf(root).startsWith("Cannot provide redisAddress using sentinel")) {
      return unreachable(root, PRIMARY);
    }
    boolean overTls = root instanceof SSLException || first(OverTls.class, causes) != null;
    return unreachable(
        root, hangsUp(root) ? overTls ? ConnectionAdvice.HUNG_UP : HUNG_UP_ON_PLAIN_TEXT : "");
  }

  /** What the network said; null if it was not the network. */
  private static @Nullable ConnectionTrouble network(List<Throwable> causes) {
    UnknownHostException unknown = first(UnknownHostException.class, causes);
    if (unknown != null) {
      Matcher quoted = RESOLVED.matcher(messageOf(unknown));
      String name = quoted.find() ? quoted.group(1) : messageOf(unknown).replaceFirst(":.*", "");
      return new ConnectionTrouble(
          "unknown host " + name, ConnectionAdvice.HOST, Reason.UNREACHABLE);
    }
    for (Throwable each : causes) {
      if (isSilence(each)) {
        return unreachable(
            each, first(OverTls.class, causes) == null ? ConnectionAdvice.SILENT : SILENT_TO_TLS);
      }
      if (each instanceof ConnectException || each instanceof NoRouteToHostException) {
        return unreachable(each, ConnectionAdvice.START);
      }
    }
    return null;
  }

  private static boolean isSilence(Throwable e) {
    return e instanceof RedisCommandTimeoutException
        || e instanceof ConnectTimeoutException
        || e instanceof SocketTimeoutException
        || e instanceof SslHandshakeTimeoutException;
  }

  private static boolean hangsUp(Throwable root) {
    return root instanceof IOException || isClosed(root);
  }

  private static boolean isClosed(Throwable e) {
    return messageOf(e).startsWith("Connection closed");
  }

  private static ConnectionTrouble certificates(String words) {
    String advice = CERTIFICATE;
    if (words.contains("valid certification path")) {
      advice = ConnectionAdvice.AUTHORITY;
    } else if (words.startsWith("No subject alternative") || words.startsWith("No name matching")) {
      advice = NAME;
    } else if (words.contains("fatal alert")) {
      advice = ConnectionAdvice.CLIENT_CERTIFICATE;
    }
    return new ConnectionTrouble("TLS failed: " + words, advice, Reason.REFUSED);
  }

  private static ConnectionTrouble unreachable(Throwable told, String advice) {
    return new ConnectionTrouble(said(told), advice, Reason.UNREACHABLE);
  }

  /** Of a connection that was closed while it was being made, the driver tells the rest beside the causes. */
  private static Throwable told(Throwable root) {
    Throwable[] beside = root.getSuppressed();
    return root.getMessage() == null && beside.length > 0 ? beside[0] : root;
  }

  private static <E> @Nullable E first(Class<E> kind, List<Throwable> causes) {
    return causes.stream().filter(kind::isInstance).map(kind::cast).findFirst().orElse(null);
  }

  private static String messageOf(Throwable e) {
    return Objects.requireNonNullElse(e.getMessage(), "");
  }

  private static String said(Throwable e) {
    String line = firstWords(messageOf(e));
    line = CALL.matcher(line).replaceFirst("");
    line = CLASS.matcher(BUFFER.matcher(line).replaceFirst("")).replaceAll("");
    line = SOCKET.matcher(line).replaceAll(ConnectionTrouble::hostAndPort);
    return line.isEmpty() ? e.getClass().getSimpleName() : line;
  }

  private static String hostAndPort(MatchResult socket) {
    String host = socket.group(1).isEmpty() ? socket.group(2) : socket.group(1);
    return Matcher.quoteReplacement(host + ":" + socket.group(3));
  }

  /** Returns what a server's sentence begins with, on one line; the rest explains it at length. */
  static String firstWords(String message) {
    String line = BLANKS.matcher(message).replaceAll(" ").strip();
    line = MORE.matcher(SCRIPT.matcher(line).replaceFirst("")).replaceFirst("");
    return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
  }

  /** The words, and what to do if that is known. */
  String line() {
    return advice.isEmpty() ? words : words + "; " + advice;
  }
}
