// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The least that a hand-over can be: two processes in turns, each of which writes a number to a key when its turn is over,
 * and knows its own turn by the answer to a blocking query. No lock: nobody is excluded who does not wait.
 */
final class QueryConsul implements Peer {
  private static final int NOT_FOUND = 404;

  private final RawConsul consul;

  /** Whose turns those with an even number are: of whoever made the key. */
  private final Map<String, Boolean> even = new ConcurrentHashMap<>();

  QueryConsul(String uri) {
    consul = new RawConsul(uri);
  }

  @Override
  public Contention.Guard lock(String name) {
    String key = "query/" + name.replace(' ', '-');
    return inside -> {
      long turn = await(key, role(key));
      inside.run();
      consul.put("/v1/kv/" + key, Long.toString(turn + 1));
    };
  }

  private boolean role(String key) throws IOException, InterruptedException {
    Boolean known = even.get(key);
    if (known == null) {
      known = consul.txn(
          RawConsul.op("check-not-exists", key, ""),
          RawConsul.op("set", key, RawConsul.value("0")));
      even.put(key, known);
    }
    return known;
  }

  /** Returns the number of our turn when it has come. */
  private long await(String key, boolean isEven) throws IOException, InterruptedException {
    long index = 0;
    while (true) {
      HttpResponse<String> seen =
          consul.ask("GET", "/v1/kv/" + key + "?raw&wait=10s&index=" + index, "");
      if (seen.statusCode() == NOT_FOUND) {
        throw new IllegalStateException(key + " is gone");
      }
      long turn = Long.parseLong(seen.body());
      if (turn % 2 == (isEven ? 0 : 1)) {
        return turn;
      }
      index = seen.headers().firstValueAsLong("X-Consul-Index").orElse(0);
    }
  }

  @Override
  public void close() {
    // the connections go with the client
  }
}
