// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The other process of {@link SqliteProcessesTest}: takes one lock again and again and changes a file under it. */
final class SqliteWorker {
  private SqliteWorker() {}

  public static void main(String[] arguments) throws Exception {
    Path counter = Path.of(arguments[1]);
    int rounds = arguments[2].equals("count") ? Integer.parseInt(arguments[3]) : Integer.MAX_VALUE;
    boolean fair = Boolean.parseBoolean(arguments[4]);
    try (Client client = new Client(Path.of(arguments[0])).connect()) {
      for (int i = 0; i < rounds; i++) {
        Claim claim = client.claim("counter", Duration.ofSeconds(2), fair);
        Answer answer = client.attempt(claim, Mode.QUEUE);
        while (!(answer instanceof Answer.Granted)) {
          client.told.poll(1, TimeUnit.SECONDS);
          answer = client.attempt(claim, Mode.QUEUE);
        }
        add(counter, ((Answer.Granted) answer).grant().revision());
        client.end(claim);
      }
    }
  }

  /** Reads all and writes all, so that two at once lose something. */
  private static void add(Path counter, long token) throws IOException {
    List<String> lines = Files.exists(counter) ? Files.readAllLines(counter) : List.of();
    StringBuilder all = new StringBuilder();
    lines.forEach(line -> all.append(line).append('\n'));
    all.append(token).append('\n');
    if (lines.size() > 1000) {
      all.setLength(0);
    }
    Files.writeString(
        counter, all, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
  }
}
