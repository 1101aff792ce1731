// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.DaemonThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Finds out why agents that speak TLS closed a connection instead of answering.
 *
 * <p>With TLS 1.3 a client believes that it is let in before the server has looked at its certificate. The server's refusal
 * then meets the request, and may be lost with it. Here nothing is sent after the handshake, so that nothing can hide it.
 */
final class ConsulHandshake {
  /** An agent that lets us in waits for a request; after this long we take it that it does. */
  private static final Duration WAIT = Duration.ofSeconds(1);

  /** For a connection and its handshake, which only an agent that hangs does not answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  private ConsulHandshake() {}

  /**
   * Shakes hands with each agent in turn, in a thread of its own.
   *
   * @return done with the first agent's refusal, or with the given failure when none refuses
   */
  static <T> CompletableFuture<T> refusalOr(
      Throwable failure, List<URI> agents, SSLSocketFactory sockets) {
    return CompletableFuture.supplyAsync(
            () -> refusal(failure, agents, sockets), ConsulHandshake::start)
        .thenCompose(refusal -> CompletableFuture.failedFuture(refusal.orElse(failure)));
  }

  private static void start(Runnable asking) {
    new DaemonThread(asking, "holdfast-consul-handshake").start();
  }

  private static Optional<Throwable> refusal(
      Throwable failure, List<URI> agents, SSLSocketFactory sockets) {
    for (URI agent : agents) {
      try {
        shakeHands(agent, sockets);
      } catch (SSLException refusal) {
        refusal.addSuppressed(failure);
        return Optional.of(refusal);
      } catch (IOException otherwise) {
        failure.addSuppressed(otherwise);
      }
    }
    return Optional.empty();
  }

  /** Returns when the agent closes the connection, or lets us wait; a refusal is thrown. */
  private static void shakeHands(URI agent, SSLSocketFactory sockets) throws IOException {
    int patience = Math.toIntExact(PATIENCE.toMillis());
    // without the brackets of an IPv6 address, which no certificate has
    String host = agent.getHost().replaceAll("[\\[\\]]", "");
    try (Socket plain = new Socket()) {
      plain.connect(new InetSocketAddress(host, agent.getPort()), patience);
      plain.setSoTimeout(patience);
      try (SSLSocket secret =
          (SSLSocket) sockets.createSocket(plain, host, agent.getPort(), true)) {
        SSLParameters parameters = secret.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secret.setSSLParameters(parameters);
        secret.startHandshake();
        secret.setSoTimeout(Math.toIntExact(WAIT.toMillis()));
        try {
          secret.getInputStream().read();
        } catch (SocketTimeoutException e) {
          // it waits for a request: we are let in
        }
      }
    }
  }
}
