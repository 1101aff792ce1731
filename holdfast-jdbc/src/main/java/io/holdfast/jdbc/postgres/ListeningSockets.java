// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc.postgres;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sockets for the connection that listens. The driver hands a message on only after it has waited a millisecond for another
 * one, which is longer than all the rest of a message's way. These sockets say at once that nothing more is there.
 *
 * <p>The driver makes this by the name of its class (its property {@code socketFactory}), which is why it is public.
 */
public final class ListeningSockets extends SocketFactory {
  /** How long the driver waits for what may be there already: nobody sets a timeout as short for an answer. */
  private static final int A_LOOK_MILLIS = 1;

  /** Makes the factory; the driver does. */
  public ListeningSockets() {}

  /**
   * Makes a socket that is not connected, as the driver asks for.
   *
   * @return the socket
   */
  @Override
  public Socket createSocket() {
    return new ListeningSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress from, int fromPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(from, fromPort));
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(from, fromPort));
  }

  private static Socket connected(InetSocketAddress to, @Nullable InetSocketAddress from)
      throws IOException {
    Socket socket = new ListeningSocket();
    try {
      if (from != null) {
        socket.bind(from);
      }
      socket.connect(to);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Does not wait where one only looks. */
  private static final class ListeningSocket extends Socket {
    private volatile boolean looks;

    // the driver sets and reads under a lock of its own
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized")
    public void setSoTimeout(int millis) throws SocketException {
      looks = millis == A_LOOK_MILLIS;
      super.setSoTimeout(millis);
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          look();
          return super.read();
        }

        @Override
        public int read(byte[] into, int from, int most) throws IOException {
          look();
          return super.read(into, from, most);
        }

        private void look() throws IOException {
          if (looks && available() == 0) {
            throw new SocketTimeoutException("nothing more is there");
          }
        }
      };
    }
  }
}
