// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.SSLContextAndOptions;
import org.apache.zookeeper.common.X509Exception;

/**
 * Asks servers their four letter words, which they answer whether or not they have a quorum. An administrator allows
 * the words one by one ({@code 4lw.commands.whitelist}); unless configured, {@code srvr} only.
 */
final class ServerWords {
  private static final int MOST_BYTES = 65_536;

  /** What is sent is what the server reads. */
  static final Sockets PLAIN = (connected, host, port) -> connected;

  private final Duration patience;
  private final Ticker ticker;
  private final Sockets sockets;

  /** Makes what is spoken through out of a socket that is connected. */
  @FunctionalInterface
  interface Sockets {
    Socket over(Socket connected, String host, int port) throws IOException;
  }

  /** Waits so long for a connection, and again for the whole of an answer. */
  ServerWords(Duration patience, Ticker ticker, Sockets sockets) {
    this.patience = patience;
    this.ticker = ticker;
    this.sockets = sockets;
  }

  /** Servers answer their words behind TLS, too: whom we trust, and what we show, is as on the client's own connections. */
  static Sockets encryptedAs(ZKClientConfig client) {
    return (connected, host, port) -> {
      try (ClientX509Util tls = new ClientX509Util()) {
        SSLContextAndOptions configured = tls.createSSLContextAndOptions(client);
        SSLParameters parameters = parameters(configured);
        if (client.getBoolean(tls.getSslHostnameVerificationEnabledProperty(), true)) {
          // ZooKeeper leaves it to Netty to compare the host with the certificate
          parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        SSLSocket socket = over(connected, host, port, configured.getSSLContext());
        socket.setSSLParameters(parameters);
        return socket;
      } catch (X509Exception e) {
        throw new IOException("TLS as it is configured does not work", e);
      }
    };
  }

  /** ZooKeeper's client shows how its sockets are configured only in one that it makes. */
  private static SSLParameters parameters(SSLContextAndOptions configured) throws IOException {
    try (SSLSocket unused = configured.createSSLSocket()) {
      return unused.getSSLParameters();
    }
  }

  private static SSLSocket over(Socket connected, String host, int port, SSLContext tls)
      throws IOException {
    return (SSLSocket) tls.getSocketFactory().createSocket(connected, host, port, true);
  }

  /**
   * Sockets that tell a server that speaks TLS from one that does not: the handshake ends with a {@link CertificateException} as
   * soon as the server shows what it has. Nothing is sent over them.
   */
  static Sockets encryptedInVain() {
    return (connected, host, port) -> {
      try {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, new TrustManager[] {new NoTrust()}, null);
        return over(connected, host, port, tls);
      } catch (GeneralSecurityException e) {
        throw new IOException("this JDK has no TLS", e);
      }
    };
  }

  /** Trusts no certificate. */
  private static final class NoTrust implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      throw new CertificateException("no client is trusted");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
        throws CertificateException {
      throw new CertificateException("no server is trusted");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  /** Splits a connect string into {@code host:port}s, as ZooKeeper's client does; what follows the first slash is no server. */
  static List<String> servers(String connectString) {
    int slash = connectString.indexOf('/');
    String all = slash < 0 ? connectString : connectString.substring(0, slash);
    List<String> servers = new ArrayList<>();
    for (String each : all.split(",", -1)) {
      String server = each.strip();
      if (!server.isEmpty()) {
        boolean hasPort = server.lastIndexOf(':') > server.lastIndexOf(']');
        servers.add(hasPort ? server : server + ":" + ZooKeeperAddress.PORT);
      }
    }
    return servers;
  }

  /** Asks, on a thread of its own; fails with an {@link IOException} if there is no answer. */
  CompletableFuture<String> ask(String server, String word) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    Thread asks = new DaemonThread(
        () -> {
          try {
            answer.complete(exchange(server, word));
          } catch (IOException | RuntimeException e) {
            answer.completeExceptionally(e);
          }
        },
        "holdfast-zookeeper-ask");
    asks.start();
    return answer;
  }

  private String exchange(String server, String word) throws IOException {
    int colon = server.lastIndexOf(':');
    String host = server.substring(0, colon).replace("[", "").replace("]", "");
    int port = Integer.parseInt(server.substring(colon + 1));
    int millis = (int) patience.toMillis();
    try (Socket connected = new LimitedSocket(patience, ticker)) {
      connected.connect(new InetSocketAddress(host, port), millis);
      try (Socket socket = sockets.over(connected, host, port)) {
        socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
        return read(socket.getInputStream());
      }
    }
  }

  /** Reads until the server hangs up, or its time is over and it has said something. */
  private static String read(InputStream from) throws IOException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    byte[] piece = new byte[4096];
    try {
      for (int read = from.read(piece);
          read >= 0 && said.size() < MOST_BYTES;
          read = from.read(piece)) {
        said.write(piece, 0, read);
      }
    } catch (SocketTimeoutException e) {
      if (said.size() == 0) {
        throw e;
      }
    }
    return said.toString(StandardCharsets.UTF_8);
  }
}
