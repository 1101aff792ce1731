// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.holdfast.spi.Causes;
import io.holdfast.spi.ConnectionAdvice;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

/**
 * Why there is no connection: what gRPC, TLS or the network said, on one line, and what to do about it.
 *
 * @param words the cause, in their words; of several members that said different things, what each said
 * @param advice what to do, without a full stop; empty if that is not known
 * @param isRefusal whether it stays so until a person changes something
 */
record ConnectionTrouble(String words, String advice, boolean isRefusal) {
  /** What a member that takes a connection and is silent on it is said to have done; how long follows. */
  static final String SILENCE = "the server gave no connection within ";

  /** Netty appends where it connected to: the host's name, if there is one, and the address. */
  private static final Pattern PLACE = Pattern.compile(": [^\\s/]*/(\\S+)$");

  private static final Pattern CLASS_NAME =
      Pattern.compile("\\b(?:[a-z]\\w*\\.)+[A-Z]\\w*(?:Exception|Error): ");

  private static final Pattern PORT = Pattern.compile(":\\d+$");
  private static final Pattern HUNG_UP_EARLY =
      Pattern.compile("^(Connection closed|Remote host terminated|closing inbound)");
  private static final Pattern OUR_CERTIFICATE =
      Pattern.compile("alert: (bad_certificate|certificate_\\w+|unknown_ca)");
  private static final Pattern BLANKS = Pattern.compile("[\\s\\p{Cc}\\p{Cf}]+");

  private static final String UNKNOWN_HOST = "unknown host";
  private static final String UNRESOLVED = "Unable to resolve host";
  private static final String CLOSED_IN_TLS = "Connection closed while performing TLS negotiation";
  private static final String NO_TLS = "not an SSL/TLS record";
  private static final String NO_HTTP2 = "First received frame was not SETTINGS";

  private static final String HUNG_UP =
      "if the server wants TLS, ask for it in the address, otherwise read the server's log or correct host and port in the address";
  private static final String HUNG_UP_IN_TLS =
      "if the server has no TLS, write etcd://, otherwise read the server's log or correct host and port in the address";
  private static final String PLAIN = "switch TLS on in the server, or write etcd://";
  private static final String NAME =
      "write the host's name as the server's certificate has it, or name it with holdfast.tls-authority";
  private static final String TLS =
      "correct the files that holdfast.tls-ca, holdfast.tls-cert and holdfast.tls-key name";

  /**
   * What an attempt to connect to a member met.
   *
   * @param at the member's host and port, as the address has them
   * @param failure what gRPC says
   */
  record Met(String at, Throwable failure) {}

  /**
   * What one member said.
   *
   * @param hasPlace whether it is told where that is even if all members said the same
   * @param isCertain whether no request can have been sent on such a connection, whatever client says so
   */
  private record Said(
      String what, boolean hasPlace, String advice, boolean isRefusal, boolean isCertain) {}

  /** Looks at what the last attempt to connect to each member met; there is one at least. */
  static ConnectionTrouble of(List<Met> all) {
    Map<Said, List<String>> places = new LinkedHashMap<>();
    // gRPC has the members in no order
    for (Met each : all.stream().sorted(Comparator.comparing(Met::at)).toList()) {
      places.computeIfAbsent(said(each.failure()), said -> new ArrayList<>()).add(each.at());
    }
    List<String> lines = new ArrayList<>();
    places.forEach((said, at) -> lines.add(line(said, at, places.size() > 1)));
    List<Said> said = List.copyOf(places.keySet());
    // what may mend by itself is waited for, though another member stays as it is
    Said told = said.stream().filter(each -> !each.isRefusal).findFirst().orElse(said.get(0));
    return new ConnectionTrouble(String.join(" and ", lines), told.advice, told.isRefusal);
  }

  private static String line(Said said, List<String> at, boolean differ) {
    List<String> places = at.stream().filter(each -> !each.isEmpty()).toList();
    if (places.isEmpty() || !(said.hasPlace || differ)) {
      return said.what;
    }
    return said.what.equals(UNKNOWN_HOST)
        ? said.what + " "
            + places.stream()
                .map(each -> PORT.matcher(each).replaceFirst(""))
                .collect(Collectors.joining(", "))
        : said.what + ": " + String.join(", ", places);
  }

  /**
   * Looks at a failure of which nothing else is known than that a request failed with it.
   *
   * @return empty if the request may have been sent
   */
  static Optional<ConnectionTrouble> certain(Throwable failure) {
    return said(failure).isCertain
        ? Optional.of(of(List.of(new Met(place(failure), failure))))
        : Optional.empty();
  }

  private static Said said(Throwable failure) {
    Throwable root = Causes.root(failure);
    String told = told(failure);
    if (root instanceof UnresolvedAddressException
        || root instanceof UnknownHostException
        || told.startsWith(UNRESOLVED)) {
      return new Said(UNKNOWN_HOST, true, ConnectionAdvice.HOST, false, true);
    }
    SSLException tls = Causes.find(SSLException.class, failure).orElse(null);
    if (tls != null) {
      return saidInTls(tls);
    }
    if (told.startsWith(CLOSED_IN_TLS)) {
      return new Said(CLOSED_IN_TLS, false, HUNG_UP_IN_TLS, false, true);
    }
    String message = root.getMessage();
    String what = message == null || isStatus(root) ? told : cleaned(message);
    if (root instanceof ConnectException || root instanceof NoRouteToHostException) {
      boolean isLate = what.toLowerCase(Locale.ROOT).startsWith("connection timed out");
      return new Said(
          what, true, isLate ? ConnectionAdvice.SILENT : ConnectionAdvice.START, false, true);
    }
    if (what.startsWith("Network is unreachable")) {
      return new Said(what, true, ConnectionAdvice.START, false, false);
    }
    if (what.startsWith(NO_HTTP2)) {
      return new Said(NO_HTTP2, false, ConnectionAdvice.ANOTHER_KIND, false, true);
    }
    if (what.startsWith(SILENCE)) {
      return new Said(what, false, ConnectionAdvice.SILENT, false, false);
    }
    boolean hungUp = told.startsWith("Network closed") || root instanceof IOException;
    return new Said(what, false, hungUp ? HUNG_UP : "", false, false);
  }

  private static Said saidInTls(SSLException tls) {
    String what = cleaned(String.valueOf(tls.getMessage()));
    if (what.startsWith(NO_TLS)) {
      return new Said(NO_TLS, false, PLAIN, true, false);
    }
    if (tls instanceof SslHandshakeTimeoutException) {
      return new Said(what, false, ConnectionAdvice.SILENT, false, true);
    }
    // a handshake comes before the first request; what fails later may have been applied
    boolean early = tls instanceof SSLHandshakeException;
    return HUNG_UP_EARLY.matcher(what).find()
        ? new Said(what, false, HUNG_UP_IN_TLS, false, early)
        : new Said(what, false, inHandshake(what), true, early);
  }

  private static String inHandshake(String what) {
    if (what.startsWith("PKIX path building failed")) {
      return ConnectionAdvice.AUTHORITY;
    }
    if (what.startsWith("No subject alternative") || what.startsWith("No name matching")) {
      return NAME;
    }
    return OUR_CERTIFICATE.matcher(what).find() ? ConnectionAdvice.CLIENT_CERTIFICATE : TLS;
  }

  /** What gRPC says; of a login that failed, what it says of that. */
  private static String told(Throwable failure) {
    String told = "";
    for (Throwable each : Causes.of(failure)) {
      if (isStatus(each)) {
        Status status = Status.fromThrowable(each);
        String description = status.getDescription();
        told = description == null ? status.getCode().name() : cleaned(firstLine(description));
      }
    }
    return told;
  }

  private static boolean isStatus(Throwable failure) {
    return failure instanceof StatusRuntimeException || failure instanceof StatusException;
  }

  /** On one line, without where it was, which is told otherwise, and without names of classes. */
  private static String cleaned(String message) {
    String line = BLANKS
        .matcher(CLASS_NAME.matcher(message).replaceAll(""))
        .replaceAll(" ")
        .strip();
    line = PLACE.matcher(line).replaceFirst("");
    return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  /** Where the failure says that it was; empty if it does not. */
  private static String place(Throwable failure) {
    String told = told(failure);
    if (told.startsWith(UNRESOLVED)) {
      return told.substring(UNRESOLVED.length()).strip();
    }
    for (Throwable each : Causes.of(failure)) {
      Matcher found = PLACE.matcher(String.valueOf(each.getMessage()));
      if (found.find()) {
        return found.group(1);
      }
    }
    return "";
  }

  /** The words, and what to do if that is known. */
  String line() {
    return advice.isEmpty() ? words : words + "; " + advice;
  }
}
