// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.process.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * Speaks TLS and never answers: the first connection is closed over its request, as one is whose refusal is lost. After
 * that our certificate is asked for, or not.
 */
final class SilentAgent implements AutoCloseable {
  private final SSLServerSocket listening;
  private final AtomicInteger asked = new AtomicInteger();

  SilentAgent(Certificates certificates, boolean asksForCertificate) throws Exception {
    listening = (SSLServerSocket) ConsulTls.context(
            Optional.of(Path.of(certificates.file("ca.pem"))),
            Optional.of(Path.of(certificates.file("server.pem"))),
            Optional.of(Path.of(certificates.file("server.key"))))
        .getServerSocketFactory()
        .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(() -> accept(asksForCertificate), "silent-agent");
    thread.setDaemon(true);
    thread.start();
  }

  String endpoint() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  int asked() {
    return asked.get();
  }

  private void accept(boolean asksForCertificate) {
    while (!listening.isClosed()) {
      try (SSLSocket client = (SSLSocket) listening.accept()) {
        client.setNeedClientAuth(asked.getAndIncrement() > 0 && asksForCertificate);
        client.getInputStream().read();
      } catch (IOException e) {
        // refused, or the test is over
      }
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
