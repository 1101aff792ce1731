// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The other process of {@link SqliteDeathTest}. Arguments: the store's address, the file to write when it is done, and what
 * to do: {@code hold NAME}, {@code fixed NAME}, {@code wait NAME}, {@code clients NUMBER}, {@code try NAME}. Then it stays.
 */
final class SqliteHolder {
  static final Duration LEASE = Duration.ofHours(1);

  private SqliteHolder() {}

  private static Claim fixed(Claim claim) {
    return new Claim(
        claim.id(),
        claim.name(),
        claim.weight(),
        claim.capacity(),
        claim.lease(),
        claim.fair(),
        claim.holder(),
        false);
  }

  public static void main(String[] arguments) throws Exception {
    // else the threads of its stores would keep it alive, and hide what has happened
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      failure.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Path done = Path.of(arguments[1]);
    List<Client> open = new ArrayList<>();
    Client client = new Client(arguments[0], Ticker.system()).connect();
    open.add(client);
    String said = "";
    for (int i = 2; i < arguments.length; i += 2) {
      String what = arguments[i + 1];
      switch (arguments[i]) {
        case "hold" -> client.granted(client.claim(what, LEASE, false));
        case "fixed" -> client.granted(fixed(client.claim(what, LEASE, false)));
        case "wait" -> client.busy(client.claim(what, LEASE, true));
        case "try" ->
          said = client
              .attempt(client.claim(what, LEASE, false), Mode.TRY)
              .getClass()
              .getSimpleName();
        default -> {
          for (int more = 0; more < Integer.parseInt(what); more++) {
            Client another = new Client(arguments[0], Ticker.system()).connect();
            another.granted(another.claim(arguments[1] + more, LEASE, false));
            open.add(another);
          }
        }
      }
    }
    Path written = Path.of(done + ".new");
    Files.writeString(written, said);
    Files.move(written, done);
    new CountDownLatch(open.size()).await();
  }
}
