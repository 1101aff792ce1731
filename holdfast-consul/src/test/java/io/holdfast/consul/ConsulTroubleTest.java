// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.consul.ConsulUnanswered.Met;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

/** What is said of failures that no server of a test can be made to give, and of several agents. */
class ConsulTroubleTest {
  private static final String ONE = "10.0.0.1:8500";
  private static final String OTHER = "10.0.0.2:8500";
  private static final String START = "; start the server, or correct host and port in the address";

  private static IOException refused() {
    return unconnected(new ClosedChannelException());
  }

  private static IOException unconnected(Throwable cause) {
    IOException failure = new ConnectException(cause.getMessage());
    failure.initCause(cause);
    return failure;
  }

  private static IOException connectTimeout() {
    return new HttpConnectTimeoutException("HTTP connect timed out");
  }

  private static Met at(String agent, Throwable failure) {
    return new Met(agent, true, failure);
  }

  private static StoreException alone(Throwable failure) {
    return told(new ConsulUnanswered(List.of(new Met(ONE, false, failure))));
  }

  private static StoreException several(Met... met) {
    return told(new ConsulUnanswered(List.of(met)));
  }

  private static StoreException told(Throwable failure) {
    return (StoreException) ConsulErrors.of("consul://x", new CompletionException(failure));
  }

  private static void assertTold(
      StoreException told, Reason reason, boolean isNotApplied, String words) {
    assertThat(told).hasMessage("consul://x: " + words);
    assertThat(told.reason()).isEqualTo(reason);
    assertThat(told.notApplied()).isEqualTo(isNotApplied);
  }

  private static ConsulHttp.Reply reply(int status, String text, String... headers) {
    return new ConsulHttp.Reply(
        status,
        HttpHeaders.of(
            Stream.of(headers).collect(Collectors.toMap(name -> name, name -> List.of("1"))),
            (name, value) -> true),
        text);
  }

  private static StoreException answered(int status, String text, String... headers) {
    return ConsulErrors.of("consul://x", reply(status, text, headers));
  }

  @Test
  void oneAgent_isNamedIfThereWasNoConnection() {
    assertTold(
        alone(refused()), Reason.UNREACHABLE, true, "Connection refused: 10.0.0.1:8500" + START);
    assertTold(
        alone(unconnected(new NoRouteToHostException("No route to host"))),
        Reason.UNREACHABLE,
        true,
        "No route to host: 10.0.0.1:8500" + START);
    assertTold(
        alone(unconnected(new UnresolvedAddressException())),
        Reason.UNREACHABLE,
        true,
        "unknown host 10.0.0.1; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine");
    assertThat(alone(connectTimeout()))
        .hasMessageStartingWith("consul://x: HTTP connect timed out: 10.0.0.1:8500; check that");
    assertThat(alone(new HttpTimeoutException("request timed out")))
        .hasMessageStartingWith("consul://x: request timed out; check that");
  }

  /** A cause that all have is told once; of others it is told which one has which. */
  @Test
  void severalAgents_areNamedIfTheyDiffer() {
    assertTold(
        several(at(ONE, refused()), at(OTHER, refused())),
        Reason.UNREACHABLE,
        true,
        "Connection refused: all 2 agents" + START);
    assertTold(
        several(at(ONE, refused()), at(OTHER, connectTimeout())),
        Reason.UNREACHABLE,
        true,
        "Connection refused: 10.0.0.1:8500, HTTP connect timed out: 10.0.0.2:8500"
            + "; make sure that one of these servers answers, or correct the address");
    assertTold(
        several(
            at("a.invalid:8500", unconnected(new UnresolvedAddressException())),
            at("b.invalid:8500", unconnected(new UnresolvedAddressException()))),
        Reason.UNREACHABLE,
        true,
        "unknown host a.invalid, unknown host b.invalid"
            + "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine");
  }

  /** What the last agent may have been sent is not known, whatever was met at those before it. */
  @Test
  void lastAgent_decidesWhatTheFailureMeans() {
    assertThat(several(at(ONE, refused()), at(OTHER, new IOException("Connection reset")))
            .notApplied())
        .isFalse();
    assertTold(
        several(
            at(ONE, refused()), at(OTHER, new SSLHandshakeException("No name matching x found"))),
        Reason.REFUSED,
        true,
        "Connection refused: 10.0.0.1:8500, No name matching x found: 10.0.0.2:8500"
            + "; write the host's name as the server's certificate has it, or have the certificate issued for this name");
    assertThat(several(at(OTHER, new HttpTimeoutException("request timed out"))))
        .hasMessageStartingWith("consul://x: request timed out: 10.0.0.2:8500; ");
  }

  /** TLS that fails behind the handshake may meet a request that is being served; before it nothing was sent. */
  @Test
  void tls_isNotAppliedOnlyBeforeTheRequestIsSent() {
    String log =
        "; read the server's log, or, if this is another kind of server, correct host and port in the address";
    assertTold(
        alone(new SSLException("Tag mismatch")), Reason.UNREACHABLE, false, "Tag mismatch" + log);
    assertTold(
        alone(new SSLHandshakeException("Remote host closed the channel")),
        Reason.UNREACHABLE,
        true,
        "Remote host closed the channel" + log);
    assertTold(
        alone(
            new SSLHandshakeException("(protocol_version) Received fatal alert: protocol_version")),
        Reason.REFUSED,
        true,
        "Received fatal alert: protocol_version" + log);
  }

  /** What a transport or a server says is one line, of a bounded length, without the names of classes. */
  @Test
  void words_areOneLine() {
    assertThat(alone(new IOException("one\r\n\u001b[2Jtwo\t")).getMessage())
        .startsWith("consul://x: one [2Jtwo; ");
    assertThat(alone(new IOException("x".repeat(5_000))).getMessage()).hasSizeLessThan(500);
    assertThat(alone(new SSLHandshakeException("PKIX: a.b.CertException: no path."))
            .getMessage())
        .startsWith("consul://x: PKIX: no path; ");
  }

  /** An HTTP server that is not Consul: it is not told that the token needs rights, and waiting is worth while. */
  @Test
  void answersOfAnotherKindOfServer_areTold() {
    String wrong = "; correct host and port in the address: another kind of server answers there";
    assertTold(answered(404, "404 page not found\n"), Reason.UNREACHABLE, true, "HTTP 404" + wrong);
    assertTold(answered(403, "<html>Forbidden"), Reason.UNREACHABLE, true, "HTTP 403" + wrong);
    assertTold(answered(308, ""), Reason.UNREACHABLE, true, "HTTP 308" + wrong);
    assertTold(answered(400, "{\"errors\":[\"x\"]}"), Reason.UNREACHABLE, true, "HTTP 400" + wrong);
    assertTold(answered(501, "<!DOCTYPE HTML>"), Reason.UNREACHABLE, false, "HTTP 501" + wrong);
    assertThat(ConsulErrors.ofForeign("x", reply(200, "<html>"), new Json.Foreign("no", null)))
        .hasMessage("x: HTTP 200 without JSON of Consul" + wrong);
  }

  /** What an agent answers, or a proxy that has none behind it, is no other kind of server. */
  @Test
  void answersOfAgents_areTheirs() {
    assertTold(answered(404, "", "X-Consul-Index"), Reason.REFUSED, true, "HTTP 404");
    assertTold(answered(400, "Bad request: x"), Reason.REFUSED, true, "Bad request: x");
    assertTold(answered(502, "<html>"), Reason.UNREACHABLE, false, "<html>");
    assertTold(
        answered(500, "No cluster leader"),
        Reason.UNREACHABLE,
        true,
        "No cluster leader; start a majority of the servers, and check that they reach each other");
    assertTold(
        answered(429, "Your IP is issuing too many concurrent connections"),
        Reason.UNREACHABLE,
        true,
        "Your IP is issuing too many concurrent connections"
            + "; raise the agent's limits, or let fewer clients of this machine use the agent");
  }

  /** A report that has advice of its own takes the cause alone. */
  @Test
  void words_areToldWithoutAdvice() {
    StoreException told = answered(403, "Permission denied: a; b", "X-Consul-Index");
    assertThat(told).hasMessageContaining("; give the token write");
    assertThat(ConsulErrors.words("consul://x", told)).isEqualTo("Permission denied: a; b");
    assertThat(ConsulErrors.words("consul://x", new IllegalStateException("odd; x")))
        .isEqualTo("odd; x");
  }
}
