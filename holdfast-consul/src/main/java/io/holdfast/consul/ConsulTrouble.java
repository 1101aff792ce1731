// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.consul.ConsulUnanswered.Met;
import io.holdfast.spi.Causes;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

/**
 * Why agents cannot be used: what the JDK's client has met or the server said, on one line, and what to do about it.
 *
 * @param words the cause
 * @param advice what to do
 * @param reason whether waiting may help
 * @param isNotApplied whether the request certainly changed nothing
 */
record ConsulTrouble(String words, ConsulAdvice advice, Reason reason, boolean isNotApplied) {
  static final int FORBIDDEN = 403;
  static final int TOO_MANY = 429;
  private static final int REDIRECTION = 300;
  private static final int CLIENT_ERROR = 400;
  private static final int NOT_FOUND = 404;
  private static final int NO_SUCH_METHOD = 405;
  private static final int TOO_LARGE = 413;
  private static final int SERVER_ERROR = 500;
  private static final int NOT_IMPLEMENTED = 501;

  /** What is no answer of an agent may be of any length. */
  private static final int LONGEST = 300;

  private static final Pattern BLANKS = Pattern.compile("[\\s\\p{Cc}\\p{Cf}]+");

  /** The JDK tells the exception that it has caught together with its class. */
  private static final Pattern JAVA_CLASS = Pattern.compile("\\b(?:\\w+\\.)+\\w+Exception: ");

  /** Newer versions of the JDK name the alert before they tell what it was. */
  private static final Pattern ALERT = Pattern.compile("^\\(\\w+\\) ");

  private static final Pattern SECOND_SENTENCE = Pattern.compile("\\. .*");

  /** What a request fails with that was sent to one agent, or to several in turn, and not answered. */
  static ConsulTrouble of(List<Met> all) {
    List<ConsulTrouble> each =
        all.stream().map(met -> of(met.failure(), hostOf(met.agent()))).toList();
    ConsulTrouble last = each.get(each.size() - 1);
    boolean isOneCause = each.stream().allMatch(one -> one.words.equals(last.words));
    boolean isOneAdvice = each.stream().allMatch(one -> one.advice == last.advice);
    return new ConsulTrouble(
        all.size() > 1 && isOneCause
            ? last.words + ": all " + all.size() + " agents"
            : all.stream().map(ConsulTrouble::named).distinct().collect(Collectors.joining(", ")),
        isOneAdvice || last.reason == Reason.REFUSED ? last.advice : ConsulAdvice.ANY,
        last.reason,
        last.isNotApplied);
  }

  private static String named(Met met) {
    String host = hostOf(met.agent());
    String words = of(met.failure(), host).words;
    boolean isPlaceTold = met.agent().isEmpty() || words.contains(host);
    boolean isPlaceWanted = met.isOneOfSeveral() || ConsulErrors.isNotSent(met.failure());
    return isPlaceWanted && !isPlaceTold ? words + ": " + met.agent() : words;
  }

  private static String hostOf(String agent) {
    return agent.replaceFirst(":\\d+$", "");
  }

  /** The JDK's client hides why it has no connection. */
  static ConsulTrouble of(Throwable failure, String host) {
    if (failure instanceof HttpTimeoutException || failure instanceof TimeoutException) {
      boolean isNotSent = failure instanceof HttpConnectTimeoutException;
      return unreachable(
          said(failure, "the answer was not read in time"), ConsulAdvice.SILENT, isNotSent);
    }
    if (failure instanceof ConnectException) {
      Throwable root = Causes.root(failure);
      return root instanceof UnresolvedAddressException || root instanceof UnknownHostException
          ? unreachable("unknown host " + host, ConsulAdvice.HOST, true)
          : unreachable(said(failure, "Connection refused"), ConsulAdvice.START, true);
    }
    if (failure instanceof SSLException secret) {
      return ofTls(secret);
    }
    if (failure instanceof ProtocolException) {
      return unreachable(said(failure, "no HTTP"), ConsulAdvice.ANOTHER_KIND, false);
    }
    return failure instanceof IOException
        ? unreachable(said(failure, "the connection was closed"), ConsulAdvice.HUNG_UP, false)
        : unreachable(oneLine(failure.toString()), ConsulAdvice.NONE, false);
  }

  /** Nothing is sent before the handshake is done. What fails later may meet a request that is being served. */
  private static ConsulTrouble ofTls(SSLException failure) {
    String words = ALERT.matcher(said(failure, "TLS failed")).replaceFirst("");
    // only the very first bytes of an answer are judged so
    if (words.contains("plaintext connection") || words.contains("unrecognized SSL message")) {
      return refused(words, ConsulAdvice.PLAIN);
    }
    if (!(failure instanceof SSLHandshakeException)) {
      return unreachable(words, ConsulAdvice.HUNG_UP, false);
    }
    if (words.startsWith("Remote host")) {
      return unreachable(words, ConsulAdvice.HUNG_UP, true);
    }
    if (words.contains("Received fatal alert")) {
      boolean isOurs = words.contains("certificate") || words.contains("unknown_ca");
      return refused(words, isOurs ? ConsulAdvice.IDENTITY : ConsulAdvice.HUNG_UP);
    }
    boolean isName = words.contains("No subject alternative") || words.contains("No name matching");
    return refused(words, isName ? ConsulAdvice.NAME : ConsulAdvice.TRUST);
  }

  /** What a request fails with that was answered, by an agent or by another kind of server. */
  static ConsulTrouble of(int status, HttpHeaders headers, String text) {
    if (isAnotherKind(status, headers, text)) {
      return anotherKind("HTTP " + status, status < SERVER_ERROR);
    }
    return of(status, text);
  }

  /** What an agent answered, or says of a part of a transaction. */
  static ConsulTrouble of(int status, String text) {
    String words = text.isBlank() ? "HTTP " + status : oneLine(firstLine(text));
    if (text.contains("HTTP request to an HTTPS server")) {
      return refused(words, ConsulAdvice.TLS);
    }
    if (text.contains("ACL not found")) {
      return refused(words, ConsulAdvice.TOKEN);
    }
    if (status == FORBIDDEN || isDenied(text)) {
      boolean isWithout = text.contains("anonymous token");
      return refused(
          SECOND_SENTENCE.matcher(words).replaceFirst(""),
          isWithout ? ConsulAdvice.NO_TOKEN : ConsulAdvice.RIGHTS);
    }
    if (text.contains("Invalid Session TTL")) {
      return refused(words, ConsulAdvice.SHORTEST);
    }
    if (status == TOO_LARGE) {
      return new ConsulTrouble(words, ConsulAdvice.NONE, Reason.FULL, true);
    }
    if (status == TOO_MANY) {
      return unreachable(words, ConsulAdvice.LIMITS, true);
    }
    if (status < SERVER_ERROR) {
      return refused(words, ConsulAdvice.NONE);
    }
    boolean isWithoutLeader =
        text.contains("No cluster leader") || text.contains("Missing node registration");
    return unreachable(
        words,
        text.contains("No cluster leader") ? ConsulAdvice.MAJORITY : ConsulAdvice.NONE,
        isWithoutLeader);
  }

  /** An answer that is none of Consul's, though its status is one. */
  static ConsulTrouble anotherKind(String words, boolean isNotApplied) {
    return unreachable(words, ConsulAdvice.ANOTHER_KIND, isNotApplied);
  }

  static boolean isDenied(String text) {
    return text.contains("Permission denied") || text.contains("ACL not found");
  }

  /**
   * An agent's answers have headers of Consul's, except when it is asked for something that it does not have, too often, or
   * without TLS; then they have a sentence. A proxy before the agents tells with 502 to 504 that it has none.
   */
  private static boolean isAnotherKind(int status, HttpHeaders headers, String text) {
    boolean isConsul = headers.map().keySet().stream()
        .anyMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("x-consul-"));
    boolean mayBeAnyServers = status < SERVER_ERROR || status == NOT_IMPLEMENTED;
    if (isConsul || !mayBeAnyServers || status == TOO_MANY || isDenied(text)) {
      return false;
    }
    return (status >= REDIRECTION && status < CLIENT_ERROR)
        || status == NOT_FOUND
        || status == NO_SUCH_METHOD
        || status == NOT_IMPLEMENTED
        || text.isBlank()
        || "<{[".indexOf(text.strip().charAt(0)) >= 0;
  }

  private static ConsulTrouble refused(String words, ConsulAdvice advice) {
    return new ConsulTrouble(words, advice, Reason.REFUSED, true);
  }

  private static ConsulTrouble unreachable(
      String words, ConsulAdvice advice, boolean isNotApplied) {
    return new ConsulTrouble(words, advice, Reason.UNREACHABLE, isNotApplied);
  }

  /** A message, or what is known by the kind of the exception where it has none. */
  private static String said(Throwable failure, String otherwise) {
    String words = oneLine(Objects.requireNonNullElse(failure.getMessage(), ""));
    return words.isEmpty() ? otherwise : words;
  }

  /** Some of it may be an answer of any server. */
  private static String oneLine(String text) {
    String line = BLANKS.matcher(text).replaceAll(" ").strip();
    line = JAVA_CLASS.matcher(line).replaceAll("");
    line = line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
  }

  private static String firstLine(String text) {
    return text.strip().lines().findFirst().orElse("");
  }

  /** The words, and what to do if that is known. */
  String line() {
    return advice.after(words);
  }
}
