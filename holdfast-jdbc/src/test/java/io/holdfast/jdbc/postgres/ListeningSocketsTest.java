// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What the driver reads through these sockets is what came, and a look for more does not wait. */
class ListeningSocketsTest {
  private final ListeningSockets sockets = new ListeningSockets();

  @Test
  void look_findsNothing() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = sockets.createSocket(server.getInetAddress(), server.getLocalPort())) {
      InputStream in = socket.getInputStream();
      socket.setSoTimeout(1);
      // the socket's own says "Read timed out"
      assertThatThrownBy(in::read)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("nothing more is there");
      assertThatThrownBy(() -> in.read(new byte[8], 0, 8))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("nothing more is there");
    }
  }

  @Test
  void look_findsWhatIsThere() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = sockets.createSocket(server.getInetAddress(), server.getLocalPort());
        Socket other = server.accept()) {
      InputStream in = socket.getInputStream();
      other.getOutputStream().write("abc".getBytes(StandardCharsets.US_ASCII));
      assertThat(in.read()).isEqualTo('a');
      socket.setSoTimeout(1);
      assertThat(in.read()).isEqualTo('b');
      assertThat(in.read(new byte[8], 0, 8)).isEqualTo(1);
      assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
      socket.setSoTimeout(0);
      other.getOutputStream().write('d');
      assertThat(in.read()).isEqualTo('d');
    }
  }

  /** Nobody waits for bytes with so short a timeout; one that is longer waits. */
  @Test
  void wait_waits() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = sockets.createSocket(server.getInetAddress(), server.getLocalPort())) {
      socket.setSoTimeout(2);
      assertThatThrownBy(socket.getInputStream()::read)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageNotContaining("nothing more");
    }
  }
}
