// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.netty.GrpcSslContexts;
import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** Reads the address of a cluster's members. Its parts may be secret: nothing here is shown. */
final class EtcdAddress {
  /** In bytes: the keys of a lease come in one answer, and those of 50,000 holds are longer than the 4 MiB of gRPC. */
  private static final int LONGEST_ANSWER = 256 * 1024 * 1024;

  private static final int PORT = 2379;
  private static final int HIGHEST_PORT = 65535;
  private static final Duration CONNECT = Duration.ofSeconds(2);

  /** A member that has been silent for so long is asked whether it is there. gRPC allows no more frequent question. */
  private static final Duration PING = Duration.ofSeconds(10);

  private final StoreAddress address;
  private final ClientBuilder client;

  EtcdAddress(StoreAddress address) {
    this.address = address;
    address.requireOnly(
        "prefix", "connect-timeout", "tls-ca", "tls-cert", "tls-key", "tls-authority");
    address.requireNoOthers("an etcd address");
    this.client = builder();
  }

  EtcdSettings settings() {
    String prefix = address.option("prefix").orElse(EtcdSettings.defaults().prefix());
    try {
      return new EtcdSettings(prefix);
    } catch (IllegalArgumentException e) {
      throw wrong("holdfast." + e.getMessage());
    }
  }

  /** Makes the client. No I/O: it connects with its first request. */
  EtcdClient client() {
    return EtcdClient.make(client);
  }

  private ClientBuilder builder() {
    Duration connect =
        address.duration("connect-timeout", CONNECT, Duration.ofMillis(100), Duration.ofMinutes(1));
    ClientBuilder builder = Client.builder()
        .endpoints(endpoints())
        .connectTimeout(connect)
        .maxInboundMessageSize(LONGEST_ANSWER)
        .loadBalancerPolicy(SteadyBalancer.policy())
        // without a connection a request fails at once, as not sent; we ask again
        .waitForReady(false)
        // what is repeated is what was refused for an old login, and the grant of a lease
        .retryDelay(20)
        .retryMaxDelay(200)
        .retryMaxAttempts(2)
        .keepaliveTime(PING)
        .keepaliveTimeout(connect)
        .keepaliveWithoutCalls(false);
    login(builder);
    tls(builder);
    return builder;
  }

  private boolean isTls() {
    return address.scheme().equals("etcds");
  }

  private String authority() {
    String rest = address.rest();
    if (!rest.startsWith("//")) {
      throw wrong("the address does not begin with " + address.scheme() + "://; write "
          + address.scheme() + "://HOST:PORT,HOST:PORT");
    }
    String authority = rest.substring(2);
    int slash = authority.indexOf('/');
    if (slash >= 0 && slash < authority.length() - 1) {
      throw wrong("an etcd address has no path; holdfast.prefix chooses the keys");
    }
    return slash < 0 ? authority : authority.substring(0, slash);
  }

  private List<URI> endpoints() {
    String authority = authority();
    List<URI> endpoints = new ArrayList<>();
    for (String each : authority.substring(authority.lastIndexOf('@') + 1).split(",", -1)) {
      endpoints.add(endpoint(each));
    }
    return endpoints;
  }

  private URI endpoint(String text) {
    String host = text;
    int port = PORT;
    int colon = text.lastIndexOf(':');
    if (colon > text.lastIndexOf(']')) {
      host = text.substring(0, colon);
      port = port(text.substring(colon + 1));
    }
    URI endpoint = null;
    try {
      endpoint = URI.create((isTls() ? "https://" : "http://") + host + ":" + port);
    } catch (IllegalArgumentException e) {
      // said below, without the text: it may be part of a password with a stray character
    }
    if (host.isEmpty() || endpoint == null || endpoint.getHost() == null) {
      throw wrong("it names no server; write " + address.scheme() + "://HOST:PORT,HOST:PORT");
    }
    return endpoint;
  }

  private int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port > 0 && port <= HIGHEST_PORT) {
        return port;
      }
    } catch (NumberFormatException e) {
      // said below, without the text
    }
    throw wrong("the port is no number from 1 to " + HIGHEST_PORT);
  }

  private void login(ClientBuilder builder) {
    String authority = authority();
    int at = authority.lastIndexOf('@');
    if (at < 0) {
      return;
    }
    String text = authority.substring(0, at);
    int colon = text.indexOf(':');
    if (colon <= 0 || colon == text.length() - 1) {
      throw wrong("write USER:PASSWORD@ before the hosts");
    }
    builder.user(decode(text.substring(0, colon))).password(decode(text.substring(colon + 1)));
  }

  private ByteSequence decode(String text) {
    try {
      // unlike in a form, a + is a + here
      return ByteSequence.from(
          URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8),
          StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong("user and password must be percent-encoded: write %25 for %, %40 for @");
    }
  }

  private void tls(ClientBuilder builder) {
    Optional<File> ca = file("tls-ca");
    Optional<File> certificate = file("tls-cert");
    Optional<File> key = file("tls-key");
    Optional<String> name = address.option("tls-authority");
    if (certificate.isPresent() != key.isPresent()) {
      throw wrong("holdfast.tls-cert and holdfast.tls-key belong together");
    }
    if (!isTls()) {
      if (ca.isPresent() || key.isPresent() || name.isPresent()) {
        throw wrong("holdfast.tls-... needs TLS; write etcds://");
      }
      return;
    }
    SslContextBuilder context = GrpcSslContexts.forClient();
    ca.ifPresent(context::trustManager);
    if (certificate.isPresent() && key.isPresent()) {
      context.keyManager(certificate.get(), key.get());
    }
    name.ifPresent(builder::authority);
    try {
      builder.sslContext(context.build());
    } catch (SSLException | IllegalArgumentException e) {
      throw new ConfigurationException(
          "TLS cannot be set up: " + e.getMessage(), address.toString(), e);
    }
  }

  private Optional<File> file(String name) {
    Optional<File> file = address.option(name).map(File::new);
    if (file.isPresent() && !file.get().canRead()) {
      throw wrong("holdfast." + name + " names no file that can be read: " + file.get());
    }
    return file;
  }

  private ConfigurationException wrong(String message) {
    return new ConfigurationException(message, address.toString(), null);
  }
}
