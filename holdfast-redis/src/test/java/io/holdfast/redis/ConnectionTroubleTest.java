// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.ConnectionTrouble.OverTls;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What the driver's exceptions, of its own and of the system's transports, are told as. */
class ConnectionTroubleTest {
  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String OURS =
      "; name a certificate that the server trusts, and its key, with holdfast.tls-cert and holdfast.tls-key";

  private static Throwable unable(Throwable cause) {
    return new CompletionException(new RedisConnectionException(
        "Unable to connect to redis.example/<unresolved>:6379", new CompletionException(cause)));
  }

  private static Throwable closedInHandshake() {
    ClosedChannelException closed = new ClosedChannelException();
    closed.addSuppressed(
        new SSLHandshakeException("Connection closed while SSL/TLS handshake was in progress"));
    return new OverTls(closed);
  }

  static Stream<Arguments> unanswered() {
    return Stream.of(
        Arguments.of(
            new ConnectException("Connection refused: redis.example/10.0.0.1:6379"),
            Reason.UNREACHABLE,
            "Connection refused: redis.example:6379" + START),
        Arguments.of(
            new ConnectException("Connection refused: /[0:0:0:0:0:0:0:1]:6379"),
            Reason.UNREACHABLE,
            "Connection refused: [0:0:0:0:0:0:0:1]:6379" + START),
        Arguments.of(
            new ConnectException(
                "finishConnect(..) failed with error(-111): Connection refused: /10.0.0.1:6379"),
            Reason.UNREACHABLE,
            "Connection refused: 10.0.0.1:6379" + START),
        Arguments.of(
            new NoRouteToHostException("No route to host: /10.0.0.1:6379"),
            Reason.UNREACHABLE,
            "No route to host: 10.0.0.1:6379" + START),
        Arguments.of(
            new UnknownHostException("redis.example: Name or service not known"),
            Reason.UNREACHABLE,
            "unknown host redis.example" + HOST),
        Arguments.of(
            new UnknownHostException("Failed to resolve 'redis.example' [A(1)] after 2 queries "),
            Reason.UNREACHABLE,
            "unknown host redis.example" + HOST),
        Arguments.of(
            new ConnectTimeoutException("connection timed out after 2000 ms: /10.0.0.1:6379"),
            Reason.UNREACHABLE,
            "connection timed out after 2000 ms: 10.0.0.1:6379" + SILENT),
        Arguments.of(
            new NotSslRecordException("not an SSL/TLS record: 2d455252"),
            Reason.REFUSED,
            "not an SSL/TLS record; switch TLS on in the server, or write redis:// without holdfast.tls"),
        Arguments.of(
            new NotSslRecordException("not an SSL/TLS record: 48545450"),
            Reason.UNREACHABLE,
            "not an SSL/TLS record; correct host and port in the address: another kind of server answers there"),
        Arguments.of(
            new OverTls(new RedisCommandTimeoutException("Connection initialization timed out")),
            Reason.UNREACHABLE,
            "Connection initialization timed out; check that the server speaks TLS, that it answers other clients, and that no firewall is in between"),
        Arguments.of(
            closedInHandshake(),
            Reason.UNREACHABLE,
            "Connection closed while SSL/TLS handshake was in progress"
                + "; read the server's log, or, if this is another kind of server, correct host and port in the address"),
        Arguments.of(
            new SSLHandshakeException("Received fatal alert: certificate_required"),
            Reason.REFUSED,
            "TLS failed: Received fatal alert: certificate_required" + OURS),
        Arguments.of(
            new SSLHandshakeException("a.b.ValidatorException: NotAfter: long ago"),
            Reason.REFUSED,
            "TLS failed: NotAfter: long ago; name the authority that issued the server's certificate with holdfast.tls-ca,"
                + " and check that the certificate is for the host in the address"),
        Arguments.of(
            new SocketException("Connection reset"),
            Reason.UNREACHABLE,
            "Connection reset; if the server wants TLS, ask for it in the address,"
                + " otherwise read the server's log or correct host and port in the address"),
        Arguments.of(
            new RedisException("the store is closed"), Reason.UNREACHABLE, "the store is closed"));
  }

  @ParameterizedTest
  @MethodSource("unanswered")
  void connectionThatWasNotMade_isToldByItsCause(Throwable cause, Reason reason, String line) {
    StoreException told = (StoreException) RedisErrors.unconnected("redis://x", unable(cause));
    assertThat(told).hasMessage("redis://x: " + line);
    assertThat(told.reason()).isEqualTo(reason);
    assertThat(told.notApplied()).isTrue();
  }

  static Stream<Arguments> answers() {
    return Stream.of(
        Arguments.of(
            "ERR The user executing the script can't run this command or subcommand script: 0a1b, on @user_script:9.",
            Reason.REFUSED,
            Reason.REFUSED,
            "ERR The user executing the script can't run this command or subcommand"
                + "; run \"holdfast doctor\" as an administrator, and give this user the rights that it prints"),
        Arguments.of(
            "ERR max number of clients reached",
            Reason.UNREACHABLE,
            Reason.UNREACHABLE,
            "ERR max number of clients reached; close other clients, or raise the server's limit of connections (maxclients)"),
        Arguments.of(
            "LOADING Redis is loading the dataset in memory",
            Reason.UNREACHABLE,
            Reason.UNREACHABLE,
            "LOADING Redis is loading the dataset in memory; wait until the server has loaded its data"),
        Arguments.of(
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."
                + " Commands that may modify the data set are disabled",
            Reason.FULL,
            Reason.FULL,
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk"
                + "; make room on the server's disk, or read its log: the server takes no writes until it can write there"),
        Arguments.of(
            "ERR unknown command 'HELLO', with args beginning with: '3' ",
            Reason.REFUSED,
            Reason.UNREACHABLE,
            "ERR unknown command 'HELLO'; correct host and port in the address: another kind of server answers there"),
        Arguments.of(
            "ERR what do you mean",
            Reason.REFUSED,
            Reason.UNREACHABLE,
            "ERR what do you mean; read the server's log, or, if this is another kind of server, correct host and port in the address"));
  }

  @ParameterizedTest
  @MethodSource("answers")
  void serverThatSaidNo_isTold(String error, Reason atFirst, Reason later, String line) {
    Throwable cause = unable(new RedisCommandExecutionException(error));
    StoreException told = (StoreException) RedisErrors.unconnected("redis://x", cause);
    assertThat(told).hasMessage("redis://x: " + line);
    assertThat(told.reason()).isEqualTo(atFirst);
    assertThat(told.notApplied()).isTrue();
    StoreException down = RedisErrors.down("redis://x", cause);
    assertThat(down).hasMessage("redis://x: there is no connection just now: " + line);
    assertThat(down.reason()).isEqualTo(later);
    assertThat(down.notApplied()).isTrue();
  }

  /** A certificate may be in order when the next connection is tried: who waits goes on waiting. */
  @Test
  void connectionThatIsNotThereNow_isToldByItsCause() {
    StoreException down = RedisErrors.down(
        "redis://x",
        unable(new SSLHandshakeException("Received fatal alert: certificate_required")));
    assertThat(down)
        .hasMessage(
            "redis://x: there is no connection just now: TLS failed: Received fatal alert: certificate_required"
                + OURS);
    assertThat(down.reason()).isEqualTo(Reason.UNREACHABLE);
    assertThat(down.notApplied()).isTrue();
  }

  /** A request that may have been sent may have been applied, whatever its connection broke of. */
  @Test
  void requestThatMayHaveBeenSent_isUnknown() {
    for (Exception each : new Exception[] {
      new RedisException("Connection closed"),
      new IOException("Broken pipe"),
      new ConnectException("Connection refused: /10.0.0.1:6379"),
      new SSLHandshakeException("Received fatal alert: certificate_required"),
      new RedisCommandTimeoutException("Command timed out")
    }) {
      StoreException told = (StoreException) RedisErrors.of("redis://x", each);
      assertThat(told.notApplied()).as("%s", each).isFalse();
      assertThat(Objects.requireNonNull(told.getMessage()))
          .endsWith("; read the server's log: the connection broke");
    }
  }

  /** A script may have written before it came to the command that the user may not use. */
  @Test
  void rightThatIsMissingInTheMiddleOfAScript_isUnknown() {
    for (String each : new String[] {
      "ERR The user executing the script can't run this command or subcommand script: 0a1b, on @user_script:9.",
      "NOPERM this user has no permissions to run the 'publish' command script: 0a1b, on @user_script:9."
    }) {
      StoreException told =
          (StoreException) RedisErrors.of("redis://x", new RedisCommandExecutionException(each));
      assertThat(told.notApplied()).as(each).isFalse();
      assertThat(told.reason()).isEqualTo(Reason.REFUSED);
    }
  }

  @Test
  void causesThatFormACycle_endSomewhere() {
    RedisException one = new RedisException("one");
    RedisException other = new RedisException("other", one);
    one.initCause(other);
    assertThat(RedisErrors.unconnected("redis://x", other)).hasMessageStartingWith("redis://x: o");
  }
}
