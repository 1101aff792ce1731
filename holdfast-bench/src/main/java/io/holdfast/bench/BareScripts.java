// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * The two scripts of our store, called like {@link PlainRedis} calls its own: what they cost the server, without our
 * client.
 */
final class BareScripts implements Peer {
  private static final String INCLUDE = "-- include ";
  private static final String HOLDER = "client\nhost\n1\nthread\n";
  private static final String LEASE = "30000000";
  private static final String WAITER_LEASE = "5000000";
  private static final String RETENTION = "86400000000";
  private static final String CHANNEL = "bare:client:";

  /** Far in the future: nothing is late here. */
  private static final String GIVE_UP = "4503599627370496";

  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> redis;
  private final String attempt;
  private final String end;
  private final AtomicLong count = new AtomicLong();

  BareScripts(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect();
    redis = connection.sync();
    attempt = redis.scriptLoad(script("attempt.lua"));
    end = redis.scriptLoad(script("end.lua"));
  }

  private static String script(String name) {
    try (InputStream in = BareScripts.class.getResourceAsStream("/io/holdfast/redis/" + name)) {
      if (in == null) {
        throw new IllegalStateException("no " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line ->
              line.startsWith(INCLUDE) ? script(line.substring(INCLUDE.length())) : line + "\n")
          .collect(Collectors.joining());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Contention.Guard lock(String name) {
    String key = "bare:{" + name + "}";
    String[] keys = {key, key + ":q", key + ":w"};
    return inside -> {
      String claim = "0123456789abcdef0123456789abcdef-" + count.getAndIncrement();
      run(attempt, 'G', keys, claim, "Q", GIVE_UP, LEASE, HOLDER, WAITER_LEASE, RETENTION, CHANNEL);
      inside.run();
      run(end, 'R', keys, claim, "0", GIVE_UP, RETENTION, CHANNEL);
    };
  }

  private void run(String sha, char expected, String[] keys, String... arguments) {
    List<Object> answer = redis.evalsha(sha, ScriptOutputType.MULTI, keys, arguments);
    if (answer.size() != 1 || ((String) answer.get(0)).charAt(0) != expected) {
      throw new IllegalStateException("not " + expected + ": " + answer);
    }
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
