// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Causes;
import io.holdfast.spi.ConnectionAdvice;
import io.holdfast.spi.StoreException;
import java.io.EOFException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.apache.zookeeper.common.X509Exception;
import org.jspecify.annotations.Nullable;

/**
 * Why there is no connection to a server, and what to do about it. ZooKeeper's client tries its servers for ever, and does not
 * tell what it meets; so this judges what came of asking the server {@code srvr}, once as the address says and once with TLS
 * the other way round.
 *
 * @param words the cause, in the words of the server or of this machine
 * @param advice what to do, without a full stop
 * @param isRefusal whether it stays so until a person changes something
 * @param mayHeal whether it may be over in a moment, by itself
 */
record ConnectionTrouble(String words, String advice, boolean isRefusal, boolean mayHeal) {
  private static final int MOST_QUOTED = 60;

  private static final Pattern NO_TEXT = Pattern.compile("[^\\x20-\\x7e]+");

  private static final String NOT_SERVING =
      "This ZooKeeper instance is not currently serving requests";

  private static final String UNKNOWN_HOST = "unknown host";

  private static final String CERTIFICATE =
      "name the authority that issued the server's certificate with holdfast.tls-ca, and check that the certificate is for the host in the address";
  private static final String TLS_FILES =
      "correct the files that holdfast.tls-ca, holdfast.tls-cert and holdfast.tls-key name";
  private static final String NO_TLS =
      "name the port that the server has for TLS, or leave out holdfast.tls";
  private static final String TLS_ONLY =
      "set holdfast.tls=true in the address, or name the port that the server has without TLS";

  /**
   * What came of asking a server.
   *
   * @param answer all that it said; null if there was a failure
   * @param failure why it said nothing
   */
  record Asked(@Nullable String answer, @Nullable Throwable failure) {
    /** Whether it said something before it hung up. */
    boolean isAnswered() {
      return answer != null && !answer.isEmpty();
    }

    private String said() {
      return Objects.requireNonNullElse(answer, "");
    }
  }

  /** How an address has it with TLS. An application's own client does not tell. */
  enum Tls {
    ON,
    OFF,
    UNTOLD
  }

  /** Judges a server; empty if it serves, as far as that can be seen. */
  static Optional<ConnectionTrouble> of(Tls tls, Asked asAddressed, Asked otherwise) {
    if (asAddressed.isAnswered()) {
      return ofAnswer(asAddressed.said());
    }
    if (tls == Tls.UNTOLD && (isZooKeepers(otherwise.said()) || speaksTls(otherwise.failure()))) {
      return Optional.empty();
    }
    if (tls == Tls.OFF && speaksTls(otherwise.failure())) {
      return Optional.of(
          new ConnectionTrouble("the server speaks TLS only", TLS_ONLY, true, false));
    }
    if (tls == Tls.ON && otherwise.isAnswered()) {
      return Optional.of(
          isZooKeepers(otherwise.said())
              ? new ConnectionTrouble("the server does not speak TLS", NO_TLS, true, false)
              : anotherKind(otherwise.said()));
    }
    Throwable failure = asAddressed.failure();
    return Optional.of(failure == null ? hungUp() : ofFailure(failure));
  }

  private static Optional<ConnectionTrouble> ofAnswer(String answer) {
    if (answer.contains(NOT_SERVING)) {
      return Optional.of(
          new ConnectionTrouble(NOT_SERVING, ConnectionAdvice.MAJORITY, false, true));
    }
    return isZooKeepers(answer) ? Optional.empty() : Optional.of(anotherKind(answer));
  }

  /** Whether a ZooKeeper server says so, of whatever version and however it is. */
  static boolean isZooKeepers(String answer) {
    return answer.contains("Zookeeper version: ")
        || answer.contains(NOT_SERVING)
        || answer.contains("is not executed because it is not in the whitelist");
  }

  /** Only a server that speaks TLS shows a certificate, or sends an alert. */
  private static boolean speaksTls(@Nullable Throwable failure) {
    return failure != null
        && (Causes.find(CertificateException.class, failure).isPresent()
            || isAlert(messageOf(Causes.root(failure))));
  }

  private static boolean isAlert(String message) {
    return message.contains("Received fatal alert");
  }

  private static ConnectionTrouble ofFailure(Throwable failure) {
    Throwable root = Causes.root(failure);
    String said = messageOf(root);
    if (root instanceof UnknownHostException) {
      return new ConnectionTrouble(UNKNOWN_HOST, ConnectionAdvice.HOST, false, false);
    }
    if (root instanceof SocketTimeoutException) {
      return new ConnectionTrouble(said, ConnectionAdvice.SILENT, false, true);
    }
    if (root instanceof TimeoutException) {
      return new ConnectionTrouble("Read timed out", ConnectionAdvice.SILENT, false, true);
    }
    if (Causes.find(X509Exception.class, failure).isPresent()) {
      return new ConnectionTrouble("TLS cannot be used: " + said, TLS_FILES, true, false);
    }
    if (Causes.find(CertificateException.class, failure).isPresent()) {
      return new ConnectionTrouble(said, CERTIFICATE, false, false);
    }
    if (isAlert(said)) {
      return new ConnectionTrouble(
          said,
          said.contains("certificate")
              ? ConnectionAdvice.CLIENT_CERTIFICATE
              : ConnectionAdvice.HUNG_UP,
          false,
          false);
    }
    if (root instanceof ConnectException
        || root instanceof NoRouteToHostException
        || said.contains("unreachable")) {
      return new ConnectionTrouble(said, ConnectionAdvice.START, false, false);
    }
    if (root instanceof EOFException) {
      return hungUp();
    }
    boolean isBroken = root instanceof SocketException || !(root instanceof SSLException);
    return new ConnectionTrouble(
        said, isBroken ? ConnectionAdvice.HUNG_UP : ConnectionAdvice.ANOTHER_KIND, false, false);
  }

  private static ConnectionTrouble hungUp() {
    return new ConnectionTrouble(
        "the server closed the connection", ConnectionAdvice.HUNG_UP, false, false);
  }

  private static ConnectionTrouble anotherKind(String answer) {
    String text =
        NO_TEXT.matcher(answer.lines().findFirst().orElse("")).replaceAll(" ").strip();
    String quoted =
        text.length() > MOST_QUOTED ? text.substring(0, MOST_QUOTED).strip() + "..." : text;
    return new ConnectionTrouble(
        "the server did not answer as ZooKeeper does, but with \"" + quoted + "\"",
        ConnectionAdvice.ANOTHER_KIND,
        false,
        false);
  }

  private static String messageOf(Throwable failure) {
    String message = Objects.requireNonNullElse(failure.getMessage(), "");
    String line = NO_TEXT.matcher(message).replaceAll(" ").strip();
    return line.isEmpty() ? failure.getClass().getSimpleName() : line;
  }

  /** Makes the failure of a first contact out of what is the matter with each server; nothing was sent. */
  static StoreException failure(Map<String, ConnectionTrouble> byServer) {
    boolean isRefusal = byServer.values().stream().allMatch(ConnectionTrouble::isRefusal);
    return new StoreException(
        line(byServer), isRefusal ? Reason.REFUSED : Reason.UNREACHABLE, true, null);
  }

  /**
   * Makes the failure of a request while a connection that was there is gone; nothing was sent. It may mend by itself even where a first
   * contact would be refused: a server's certificate may be being replaced.
   */
  static StoreException passing(Map<String, ConnectionTrouble> byServer) {
    return new StoreException(line(byServer), Reason.UNREACHABLE, true, null);
  }

  /** The cause once if the servers agree about it, else that of each; and what to do. */
  static String line(Map<String, ConnectionTrouble> byServer) {
    Map<ConnectionTrouble, List<String>> servers = new LinkedHashMap<>();
    byServer.forEach((server, trouble) ->
        servers.computeIfAbsent(trouble, unused -> new ArrayList<>()).add(server));
    if (servers.size() == 1) {
      ConnectionTrouble only = servers.keySet().iterator().next();
      return only.at(byServer.keySet().stream().toList()) + "; " + only.advice;
    }
    List<String> advice =
        byServer.values().stream().map(ConnectionTrouble::advice).distinct().toList();
    return byServer.entrySet().stream()
            .map(each -> each.getKey() + ": " + each.getValue().words)
            .collect(Collectors.joining("; "))
        + "; "
        + (advice.size() == 1 ? advice.get(0) : ConnectionAdvice.SEVERAL);
  }

  private String at(List<String> servers) {
    return words.equals(UNKNOWN_HOST)
        ? words + " "
            + servers.stream()
                .map(each -> each.substring(0, each.lastIndexOf(':')))
                .distinct()
                .collect(Collectors.joining(", "))
        : words + ": " + String.join(", ", servers);
  }
}
