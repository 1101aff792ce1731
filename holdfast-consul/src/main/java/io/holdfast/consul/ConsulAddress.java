// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the address of agents. Its parts may be secret: nothing here is shown. */
final class ConsulAddress {
  private static final int PORT = 8500;
  private static final int TLS_PORT = 8501;
  private static final int HIGHEST_PORT = 65535;
  private static final int DELETE = 0x7f;
  private static final Duration CONNECT = Duration.ofSeconds(2);

  private final StoreAddress address;
  private final ConsulSettings settings;
  private final List<URI> agents;
  private final HttpClient.Builder client;
  private final String parameters;
  private final String fixedToken;
  private final Optional<Path> tokenFile;

  ConsulAddress(StoreAddress address) {
    this.address = address;
    address.requireOnly(
        "prefix",
        "lock-delay",
        "session-ttl-min",
        "token-file",
        "datacenter",
        "namespace",
        "partition",
        "connect-timeout",
        "tls-ca",
        "tls-cert",
        "tls-key");
    address.requireNoOthers("a Consul address");
    this.settings = readSettings();
    this.agents = readAgents();
    this.parameters = parameter("dc", "datacenter")
        + parameter("ns", "namespace")
        + parameter("partition", "partition");
    this.fixedToken = readToken();
    this.tokenFile = address.option("token-file").map(Path::of);
    if (tokenFile.isPresent() && !fixedToken.isEmpty()) {
      throw wrong("holdfast.token-file and a token before the hosts exclude each other");
    }
    token();
    this.client = builder();
  }

  ConsulSettings settings() {
    return settings;
  }

  List<URI> agents() {
    return agents;
  }

  /** What each request has beside its own parameters: empty, or a text that begins with {@code &}. */
  String parameters() {
    return parameters;
  }

  /** The namespace of the keys; empty for the default one. A transaction says it in each of its operations. */
  String namespace() {
    return address.option("namespace").orElse("");
  }

  /** The partition of the keys; empty for the default one. */
  String partition() {
    return address.option("partition").orElse("");
  }

  boolean isTls() {
    return address.scheme().equals("consuls");
  }

  /** Says whether the token may be another one by now. */
  boolean isTokenRead() {
    return tokenFile.isPresent();
  }

  /** Makes the client. No I/O: it connects with its first request. */
  HttpClient client() {
    return client.build();
  }

  /** Returns the token, read from its file now if it has one; empty for none. */
  String token() {
    String token = tokenFile.isEmpty() ? fixedToken : read(tokenFile.get());
    if (!token.chars().allMatch(c -> c > ' ' && c < DELETE)) {
      // the HTTP client would show it when it refuses it
      throw wrong(
          "the token has a character that no token has: a space, a line break, or beyond ASCII");
    }
    return token;
  }

  private String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw wrong("holdfast.token-file names no file that can be read: " + file);
    }
  }

  private HttpClient.Builder builder() {
    HttpClient.Builder builder = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(address.duration(
            "connect-timeout", CONNECT, Duration.ofMillis(100), Duration.ofMinutes(1)));
    Optional<Path> ca = file("tls-ca");
    Optional<Path> certificate = file("tls-cert");
    Optional<Path> key = file("tls-key");
    if (certificate.isPresent() != key.isPresent()) {
      throw wrong("holdfast.tls-cert and holdfast.tls-key belong together");
    }
    if (!isTls()) {
      if (ca.isPresent() || key.isPresent()) {
        throw wrong("holdfast.tls-... needs TLS; write consuls://");
      }
      return builder;
    }
    try {
      return builder.sslContext(ConsulTls.context(ca, certificate, key));
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new ConfigurationException(
          "TLS cannot be set up: " + e.getMessage(), address.toString(), e);
    }
  }

  private Optional<Path> file(String name) {
    Optional<Path> file = address.option(name).map(Path::of);
    if (file.isPresent() && !Files.isReadable(file.get())) {
      throw wrong("holdfast." + name + " names no file that can be read: " + file.get());
    }
    return file;
  }

  private ConsulSettings readSettings() {
    String prefix = address.option("prefix").orElse("holdfast/");
    boolean isOdd = prefix.startsWith("/")
        || prefix.contains("//")
        || prefix.contains("..")
        || !prefix.chars().allMatch(c -> Character.isLetterOrDigit(c) || "-_.:/".indexOf(c) >= 0);
    if (isOdd) {
      throw wrong(
          "holdfast.prefix has other characters than letters, digits and -_.:/, begins with a slash, or has empty parts");
    }
    return new ConsulSettings(
        prefix,
        address.duration(
            "lock-delay", Duration.ofSeconds(15), Duration.ZERO, Duration.ofSeconds(60)),
        address.duration(
            "session-ttl-min",
            Duration.ofSeconds(10),
            Duration.ofSeconds(1),
            Duration.ofMinutes(1)));
  }

  private String parameter(String theirs, String ours) {
    return address
        .option(ours)
        .map(value -> "&" + theirs + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8))
        .orElse("");
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
      throw wrong("a Consul address has no path; holdfast.prefix chooses the keys");
    }
    return slash < 0 ? authority : authority.substring(0, slash);
  }

  private List<URI> readAgents() {
    String authority = authority();
    List<URI> all = new ArrayList<>();
    for (String each : authority.substring(authority.lastIndexOf('@') + 1).split(",", -1)) {
      all.add(agent(each));
    }
    return List.copyOf(all);
  }

  private URI agent(String text) {
    String host = text;
    int port = isTls() ? TLS_PORT : PORT;
    int colon = text.lastIndexOf(':');
    if (colon > text.lastIndexOf(']')) {
      host = text.substring(0, colon);
      port = port(text.substring(colon + 1));
    }
    URI agent = null;
    try {
      agent = URI.create((isTls() ? "https://" : "http://") + host + ":" + port);
    } catch (IllegalArgumentException e) {
      // said below, without the text: it may be part of a token with a stray character
    }
    if (host.isEmpty() || agent == null || agent.getHost() == null) {
      throw wrong("it names no agent; write " + address.scheme() + "://HOST:PORT,HOST:PORT");
    }
    return agent;
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

  private String readToken() {
    String authority = authority();
    int at = authority.lastIndexOf('@');
    if (at < 0) {
      return "";
    }
    if (!authority.startsWith(":") || at < 2) {
      throw wrong("write :TOKEN@ before the hosts");
    }
    try {
      // unlike in a form, a + is a + here
      return URLDecoder.decode(
          authority.substring(1, at).replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong("the token must be percent-encoded: write %25 for %, %40 for @");
    }
  }

  private ConfigurationException wrong(String message) {
    return new ConfigurationException(message, address.toString(), null);
  }
}
