// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;

/** What the server was asked to do: it counts itself, and what scripts do counts, too. */
public final class RedisCommandCount implements AutoCloseable {
  private static final String VERSION = "redis_version:";

  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;

  /** Counts at one server, on a connection of its own. */
  public RedisCommandCount(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect();
  }

  /**
   * So many commands.
   *
   * @param all also those within scripts, but not our own looking
   * @param scripts calls of scripts
   */
  public record Calls(long all, long scripts) {
    Calls since(Calls before) {
      return new Calls(all - before.all, scripts - before.scripts);
    }
  }

  /** What it was asked since it was started. */
  public Calls now() {
    long all = 0;
    long scripts = 0;
    for (String line : connection.sync().info("commandstats").split("\r\n", -1)) {
      if (!line.startsWith("cmdstat_") || line.startsWith("cmdstat_info")) {
        continue;
      }
      int from = line.indexOf(":calls=") + ":calls=".length();
      long calls = Long.parseLong(line.substring(from, line.indexOf(',', from)));
      all += calls;
      if (line.startsWith("cmdstat_eval")) {
        scripts += calls;
      }
    }
    return new Calls(all, scripts);
  }

  /** The server's version. */
  String version() {
    return connection
        .sync()
        .info("server")
        .lines()
        .filter(line -> line.startsWith(VERSION))
        .map(line -> line.substring(VERSION.length()))
        .findFirst()
        .orElse("of an unknown version");
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
