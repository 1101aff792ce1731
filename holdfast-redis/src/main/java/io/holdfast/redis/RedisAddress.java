// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.StaticCredentialsProvider;
import java.io.File;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the address of one server, of the sentinels that know it, or of the nodes of a cluster, for the driver. Its
 * parts may be secret: nothing here is shown.
 */
final class RedisAddress {
  private static final int PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final int HIGHEST_PORT = 65535;
  private static final Duration CONNECT = Duration.ofSeconds(2);

  /** Where the scheme does not say it. */
  static final String TLS_SWITCH = "tls";

  private final StoreAddress address;

  RedisAddress(StoreAddress address) {
    this.address = address;
    address.requireOnly(known());
    address.requireNoOthers("a Redis address");
  }

  private String[] known() {
    List<String> known = new ArrayList<>(List.of(
        "prefix", "retention", "connect-timeout", "client-name", "replicas", "replicas-timeout"));
    known.addAll(List.of("tls-ca", "tls-cert", "tls-key", "tls-verify"));
    if (isSentinel()) {
      known.addAll(List.of("sentinel-user", "sentinel-password"));
    }
    if (isSentinel() || isCluster()) {
      known.add(TLS_SWITCH);
    }
    return known.toArray(String[]::new);
  }

  Duration connectTimeout() {
    return address.duration(
        "connect-timeout", CONNECT, Duration.ofMillis(100), Duration.ofMinutes(1));
  }

  /** Returns the server, or with sentinels what finds it. */
  RedisURI uri() {
    return uris().get(0);
  }

  /** Returns the nodes of a cluster that the address names; otherwise one. */
  List<RedisURI> uris() {
    String rest = address.rest();
    if (!rest.startsWith("//")) {
      throw wrong("the address does not begin with " + address.scheme() + "://; write " + form());
    }
    int slash = rest.indexOf('/', 2);
    String authority = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
    String path = slash < 0 ? "" : rest.substring(slash + 1);
    int at = authority.lastIndexOf('@');
    String hosts = authority.substring(at + 1);
    List<RedisURI> uris = new ArrayList<>();
    if (isSentinel()) {
      uris.add(finished(primary(hosts, path), authority.substring(0, at + 1)));
    } else if (isCluster()) {
      if (!path.isEmpty()) {
        throw wrong("a cluster has one database only, which has no number");
      }
      for (String host : hosts.split(",", -1)) {
        uris.add(finished(server(host, PORT), authority.substring(0, at + 1)));
      }
    } else {
      RedisURI.Builder one = server(hosts, PORT).withDatabase(database(path));
      uris.add(finished(one, authority.substring(0, at + 1)));
    }
    return uris;
  }

  private RedisURI finished(RedisURI.Builder builder, String user) {
    builder.withTimeout(connectTimeout()).withClientName(clientName());
    if (!user.isEmpty()) {
      authenticate(builder, user.substring(0, user.length() - 1));
    }
    if (isTls()) {
      builder.withSsl(true).withVerifyPeer(verify());
    }
    return builder.build();
  }

  private String form() {
    return address.scheme()
        + (isSentinel()
            ? "://HOST:PORT,HOST:PORT/NAME-OF-THE-PRIMARY"
            : isCluster() ? "://HOST:PORT,HOST:PORT" : "://HOST:PORT");
  }

  private RedisURI.Builder primary(String hosts, String path) {
    int slash = path.indexOf('/');
    String name = slash < 0 ? path : path.substring(0, slash);
    if (name.isEmpty()) {
      throw wrong("it does not name the primary; write " + form());
    }
    RedisURI.Builder builder = RedisURI.builder()
        .withSentinelMasterId(decode(name))
        .withDatabase(database(slash < 0 ? "" : path.substring(slash + 1)));
    String password = address.option("sentinel-password").orElse("");
    String user = address.option("sentinel-user").orElse("");
    if (password.isEmpty() && !user.isEmpty()) {
      throw wrong("holdfast.sentinel-user needs a holdfast.sentinel-password");
    }
    for (String host : hosts.split(",", -1)) {
      RedisURI.Builder sentinel =
          server(host, SENTINEL_PORT).withTimeout(connectTimeout()).withClientName(clientName());
      if (!password.isEmpty()) {
        authenticate(sentinel, user, password);
      }
      if (isTls()) {
        sentinel.withSsl(true).withVerifyPeer(verify());
      }
      builder.withSentinel(sentinel.build());
    }
    return builder;
  }

  private RedisURI.Builder server(String text, int defaultPort) {
    String host = text;
    int port = defaultPort;
    int colon = text.lastIndexOf(':');
    if (colon > text.lastIndexOf(']')) {
      host = text.substring(0, colon);
      port = number(text.substring(colon + 1), HIGHEST_PORT, "the port");
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    if (host.isEmpty() || port == 0 || host.indexOf(',') >= 0) {
      throw wrong("it names no server; write " + form()
          + (isSentinel() || isCluster() ? "" : ", with one host"));
    }
    return RedisURI.Builder.redis(host, port);
  }

  private int database(String text) {
    return text.isEmpty() ? 0 : number(text, Integer.MAX_VALUE, "the database");
  }

  private int number(String text, int most, String what) {
    try {
      int value = Integer.parseInt(text);
      if (value >= 0 && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // said below, without the text: it may be part of a password with a stray character
    }
    throw wrong(what + " is no number from 0 to " + most);
  }

  private void authenticate(RedisURI.Builder builder, String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw wrong("write USER:PASSWORD@ or :PASSWORD@ before the host");
    }
    authenticate(builder, decode(text.substring(0, colon)), decode(text.substring(colon + 1)));
  }

  /**
   * The driver is given what it need not wait for: where it has to, it may hand out a connection (7.7.0) that refuses
   * requests, because a thread of its own is still about to say that it is connected.
   */
  private static void authenticate(RedisURI.Builder builder, String user, String password) {
    builder.withAuthentication(
        new StaticCredentialsProvider(user.isEmpty() ? null : user, password.toCharArray()));
  }

  private String decode(String text) {
    try {
      // unlike in a form, a + is a + here
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong("user, password and name must be percent-encoded: write %25 for %, %40 for @");
    }
  }

  private String clientName() {
    String name = address.option("client-name").orElse("holdfast");
    if (name.isEmpty() || !name.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw wrong("holdfast.client-name must be of visible ASCII characters without blanks");
    }
    return name;
  }

  boolean isSentinel() {
    return address.scheme().equals("redis-sentinel");
  }

  boolean isCluster() {
    return address.scheme().equals("redis-cluster");
  }

  boolean isTls() {
    return address.scheme().equals("rediss") || isTls(address);
  }

  /** Says whether an address that has the switch asks for TLS. */
  static boolean isTls(StoreAddress address) {
    String text = address.option(TLS_SWITCH).orElse("false");
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default ->
        throw new ConfigurationException(
            "holdfast.tls can be true or false", address.toString(), null);
    };
  }

  private SslVerifyMode verify() {
    String text = address.option("tls-verify").orElse("full");
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "full" -> SslVerifyMode.FULL;
      case "ca" -> SslVerifyMode.CA;
      case "none" -> SslVerifyMode.NONE;
      default -> throw wrong("holdfast.tls-verify can be full, ca or none");
    };
  }

  /** Returns what TLS needs; null without TLS. */
  @Nullable
  SslOptions tls() {
    Optional<File> ca = file("tls-ca");
    Optional<File> certificate = file("tls-cert");
    Optional<File> key = file("tls-key");
    if (certificate.isPresent() != key.isPresent()) {
      throw wrong("holdfast.tls-cert and holdfast.tls-key belong together");
    }
    if (!isTls()) {
      if (ca.isPresent() || key.isPresent() || address.option("tls-verify").isPresent()) {
        throw wrong("holdfast.tls-... needs TLS; write "
            + (isSentinel() || isCluster() ? "holdfast.tls=true" : "rediss://"));
      }
      return null;
    }
    SslOptions.Builder builder = SslOptions.builder().jdkSslProvider();
    ca.ifPresent(builder::trustManager);
    if (certificate.isPresent() && key.isPresent()) {
      builder.keyManager(certificate.get(), key.get(), new char[0]);
    }
    return builder.build();
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
