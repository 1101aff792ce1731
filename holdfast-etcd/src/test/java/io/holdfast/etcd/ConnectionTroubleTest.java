// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.etcd.ConnectionTrouble.Met;
import io.holdfast.spi.StoreException;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

/** What is said of failures that the servers of these tests do not give, and of which it is sure that nothing was sent. */
class ConnectionTroubleTest {
  private static Throwable met(Throwable cause) {
    return Status.UNAVAILABLE.withDescription("io exception").withCause(cause).asException();
  }

  private static StoreException failed(Throwable failure) {
    return (StoreException) EtcdErrors.of("etcd://a", failure);
  }

  /** A request that is known to have had no connection, whatever the attempt to connect met. */
  private static StoreException unsent(Throwable... causes) {
    List<Met> all = Arrays.stream(causes).map(each -> new Met("a:1", met(each))).toList();
    return failed(Status.UNAVAILABLE.withCause(new NotConnected(all)).asRuntimeException());
  }

  private static void assertNotSent(StoreException told, Reason reason, String line) {
    assertThat(told).hasMessage("etcd://a: " + line);
    assertThat(told.reason()).isEqualTo(reason);
    assertThat(told.notApplied()).isTrue();
  }

  /** These come before anything is sent, so that the client that says so need not be ours. */
  @Test
  void connectionThatIsNotMade() {
    String start = "; start the server, or correct host and port in the address";
    assertNotSent(
        failed(met(new NoRouteToHostException("No route to host: b/10.0.0.9:1"))),
        Reason.UNREACHABLE,
        "No route to host: 10.0.0.9:1" + start);
    assertNotSent(
        failed(met(new ConnectException("connection timed out after 2000 ms: /10.0.0.9:1"))),
        Reason.UNREACHABLE,
        "connection timed out after 2000 ms: 10.0.0.9:1; check that the server answers other clients,"
            + " that it is the kind of server that the address names, and that no firewall is in between");
    assertNotSent(
        failed(Status.UNAVAILABLE
            .withDescription("Unable to resolve host b")
            .withCause(new RuntimeException(new UnknownHostException("b: Name not known")))
            .asException()),
        Reason.UNREACHABLE,
        "unknown host b; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine");
    assertNotSent(
        failed(met(new SSLHandshakeException("Received fatal alert: protocol_version"))),
        Reason.REFUSED,
        "Received fatal alert: protocol_version; correct the files that holdfast.tls-ca,"
            + " holdfast.tls-cert and holdfast.tls-key name");
  }

  /** The same words as of an attempt to connect, but a request may have been under way: it may have been applied. */
  @Test
  void connectionThatBreaks_isUnknown() {
    List<Throwable> breaks = List.of(
        met(new SocketException("Connection reset")),
        met(new SocketException("Network is unreachable")),
        met(new SSLException("bad record")),
        met(new NotSslRecordException("not an SSL/TLS record: 00")),
        Status.UNAVAILABLE.withDescription("Network closed for unknown reason").asException());
    for (Throwable each : breaks) {
      StoreException told = failed(each);
      assertThat(told.notApplied()).as("%s", told).isFalse();
      assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE);
    }
    assertNotSent(
        unsent(new SocketException("Network is unreachable")),
        Reason.UNREACHABLE,
        "Network is unreachable: a:1; start the server, or correct host and port in the address");
    assertNotSent(
        unsent(new SSLException("bad record")),
        Reason.REFUSED,
        "bad record; correct the files that holdfast.tls-ca, holdfast.tls-cert and holdfast.tls-key name");
  }

  /** It is a refusal only if no member can mend by itself; what several say alike is said once. */
  @Test
  void severalMembers() {
    ConnectException away = new ConnectException("Connection refused");
    SSLException no = new NotSslRecordException("not an SSL/TLS record: 00");
    assertThat(unsent(no, no).reason()).isEqualTo(Reason.REFUSED);
    assertThat(unsent(no, no))
        .hasMessageStartingWith("etcd://a: not an SSL/TLS record; switch TLS on ");
    assertNotSent(
        unsent(no, away, away),
        Reason.UNREACHABLE,
        "not an SSL/TLS record: a:1 and Connection refused: a:1, a:1;"
            + " start the server, or correct host and port in the address");
  }
}
