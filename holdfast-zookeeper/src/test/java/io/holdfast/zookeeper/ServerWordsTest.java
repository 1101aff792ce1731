// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Causes;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A server that goes on sending a little, and comes to no end, is listened to for a limited time. */
@Execution(ExecutionMode.CONCURRENT)
class ServerWordsTest {
  /** The beginning of a handshake of TLS in one record of 16 KiB, of which the rest is zeros. */
  private static final byte[] HANDSHAKE = {22, 3, 3, 64, 0};

  private static final byte[] TEXT = {};

  private static final int PAUSE_MILLIS = 20;

  private static ServerWords words(ServerWords.Sockets sockets) {
    return new ServerWords(Duration.ofSeconds(4), Ticker.system(), sockets);
  }

  @Test
  void plain_whatWasSaidInTime_isTheAnswer() throws IOException {
    try (Dripping server = new Dripping(TEXT)) {
      assertThat(Await.value(words(ServerWords.PLAIN).ask(server.address(), "srvr")))
          .startsWith("\0");
    }
  }

  @Test
  void tls_aHandshakeWithoutAnEnd_isGivenUp() throws IOException {
    try (Dripping server = new Dripping(HANDSHAKE)) {
      Throwable failure =
          Await.failure(words(ServerWords.encryptedInVain()).ask(server.address(), "srvr"));
      assertThat(Causes.root(failure)).isInstanceOf(SocketTimeoutException.class);
    }
  }

  /** Sends a byte every few milliseconds until the client hangs up. */
  private static final class Dripping implements AutoCloseable {
    private final ServerSocket listening;
    private final byte[] first;

    Dripping(byte[] first) throws IOException {
      this.listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
      this.first = first;
      Thread thread = new Thread(this::drip, "dripping-server");
      thread.setDaemon(true);
      thread.start();
    }

    String address() {
      return "127.0.0.1:" + listening.getLocalPort();
    }

    private void drip() {
      try (Socket client = listening.accept()) {
        client.setTcpNoDelay(true);
        client.setSoTimeout(PAUSE_MILLIS);
        client.getOutputStream().write(first);
        while (isThere(client)) {
          client.getOutputStream().write(0);
        }
      } catch (IOException e) {
        // the client has hung up, which is what the test is about
      }
    }

    /** Reads what the client has sent, or waits in vain for more. */
    private static boolean isThere(Socket client) throws IOException {
      try {
        return client.getInputStream().read(new byte[4096]) >= 0;
      } catch (SocketTimeoutException e) {
        return true;
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }
}
