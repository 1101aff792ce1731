// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/** Asks a Consul agent through the JDK's client, as the store does, and waits for each answer. */
final class RawConsul {
  private static final int OK = 200;
  private static final int CONFLICT = 409;

  /** Longer than a blocking query waits. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final HttpClient client = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1)
      .connectTimeout(Duration.ofSeconds(2))
      .build();
  private final String agent;

  /** Connects with the first request. */
  RawConsul(String uri) {
    agent = uri.replaceFirst("^consul:", "http:");
  }

  HttpResponse<String> ask(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(agent + path))
        .timeout(TIMEOUT)
        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    return client.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  /** Does what must not be refused, and returns the answer. */
  String put(String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> answer = ask("PUT", path, body);
    if (answer.statusCode() != OK) {
      throw new IllegalStateException(path + ": " + answer.statusCode() + " " + answer.body());
    }
    return answer.body();
  }

  /** Does a transaction; says whether it was done. */
  boolean txn(String... operations) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        ask("PUT", "/v1/txn?consistent", "[" + String.join(",", operations) + "]");
    if (answer.statusCode() != OK && answer.statusCode() != CONFLICT) {
      throw new IllegalStateException(answer.statusCode() + " " + answer.body());
    }
    return answer.statusCode() == OK;
  }

  /**
   * Writes an operation of a transaction.
   *
   * @param more further fields, each after a comma; empty for none
   */
  static String op(String verb, String key, String more) {
    return "{\"KV\":{\"Verb\":\"" + verb + "\",\"Key\":\"" + key + "\"" + more + "}}";
  }

  static String value(String text) {
    return ",\"Value\":\""
        + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)) + "\"";
  }
}
