// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.DaemonThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;

/**
 * Asks servers their four letter words, which they answer whether or not they have a quorum. An administrator allows
 * the words one by one ({@code 4lw.commands.whitelist}); unless configured, {@code srvr} only.
 */
final class ServerWords {
  private static final int MOST_BYTES = 65_536;

  private final Duration patience;
  private final Sockets sockets;

  /** Makes sockets that are not connected. */
  @FunctionalInterface
  interface Sockets {
    Socket make() throws IOException;
  }

  /** Waits so long for a connection, and again for each piece of an answer. */
  ServerWords(Duration patience, Sockets sockets) {
    this.patience = patience;
    this.sockets = sockets;
  }

  /** Servers answer their words behind TLS, too: whom we trust, and what we show, is as on the client's own connections. */
  static Sockets encryptedAs(ZKClientConfig client) {
    return () -> {
      try (ClientX509Util tls = new ClientX509Util()) {
        SSLSocket socket = tls.createSSLContextAndOptions(client).createSSLSocket();
        if (client.getBoolean(tls.getSslHostnameVerificationEnabledProperty(), true)) {
          // ZooKeeper leaves it to Netty to compare the host with the certificate
          SSLParameters parameters = socket.getSSLParameters();
          parameters.setEndpointIdentificationAlgorithm("HTTPS");
          socket.setSSLParameters(parameters);
        }
        return socket;
      } catch (X509Exception e) {
        throw new IOException("TLS as it is configured does not work", e);
      }
    };
  }

  /** Splits a connect string into {@code host:port}s; what follows the first slash is no server. */
  static List<String> servers(String connectString) {
    int slash = connectString.indexOf('/');
    String all = slash < 0 ? connectString : connectString.substring(0, slash);
    List<String> servers = new ArrayList<>();
    for (String each : all.split(",", -1)) {
      servers.add(each.strip());
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
        "holdfast-zookeeper-doctor");
    asks.start();
    return answer;
  }

  private String exchange(String server, String word) throws IOException {
    int colon = server.lastIndexOf(':');
    String host = server.substring(0, colon).replace("[", "").replace("]", "");
    int port = Integer.parseInt(server.substring(colon + 1));
    int millis = (int) patience.toMillis();
    try (Socket socket = sockets.make()) {
      socket.connect(new InetSocketAddress(host, port), millis);
      socket.setSoTimeout(millis);
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      byte[] said = socket.getInputStream().readNBytes(MOST_BYTES);
      return new String(said, StandardCharsets.UTF_8);
    }
  }
}
