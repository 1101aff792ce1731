// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.Random;

/**
 * One copy of the bank, for {@link TransfersProcessesTest}. Each line that it is told begins with a word, with which its
 * answer begins, too:
 *
 * <pre>
 *   a1 open JDBC-URL USER PASSWORD STORE   a1 ready
 *   a2 move WAY FROM TO AMOUNT             a2 TRANSFERRED
 *   a3 freeze WAY FROM TO AMOUNT           a3 read, and when it was told something more: a3 TRANSFERRED
 *   a4 many WAY NUMBER                     a4 done
 * </pre>
 */
final class TransferMachine {
  static final int ACCOUNTS = 10;
  static final long BALANCE = 1_000;

  private final Random random;
  private final LockOptions options;
  private final HikariDataSource dataSource;
  private final Holdfast holdfast;
  private final Accounts accounts;
  private Runnable beforeWriting = () -> {};

  private TransferMachine(long seed, long leaseMillis, String[] open) {
    random = new Random(seed);
    options = LockOptions.builder().leaseFor(Duration.ofMillis(leaseMillis)).build();
    dataSource = dataSource(open[2], open[3], open[4]);
    holdfast = Machine.connect(open[5]);
    accounts = new Accounts(dataSource);
  }

  static HikariDataSource dataSource(String url, String user, String password) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(1);
    return new HikariDataSource(config);
  }

  /** Arguments: a seed, the lease in milliseconds. */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line = in.readLine();
    while (line != null) {
      String[] open = line.split(" ");
      TransferMachine machine =
          new TransferMachine(Long.parseLong(args[0]), Long.parseLong(args[1]), open);
      try (machine.dataSource;
          machine.holdfast) {
        line = machine.serve(in, open[0]);
      }
    }
  }

  /** Does what it is told, until it is told to open another database. */
  private String serve(BufferedReader in, String tag) throws Exception {
    System.out.println(tag + " ready");
    String line = in.readLine();
    while (line != null && !line.contains(" open ")) {
      String[] told = line.split(" ");
      beforeWriting = () -> {};
      switch (told[1]) {
        case "many" -> many(told[0], way(told[2]), Integer.parseInt(told[3]));
        case "freeze" -> {
          beforeWriting = () -> {
            System.out.println(told[0] + " read");
            readLine(in);
          };
          move(told);
        }
        default -> move(told);
      }
      line = in.readLine();
    }
    return line;
  }

  private Transfers way(String name) {
    return switch (name) {
      case "rows" -> new RowTransfers(accounts);
      case "optimistic" -> new OptimisticTransfers(accounts);
      case "leased" ->
        new LeasedTransfers(holdfast, options, accounts) {
          @Override
          void beforeWriting() {
            beforeWriting.run();
          }
        };
      default ->
        new LeasedTransfers(holdfast, options, accounts) {
          @Override
          void check(Connection connection, String resource, long token) {}

          @Override
          void beforeWriting() {
            beforeWriting.run();
          }
        };
    };
  }

  private void move(String[] told) throws Exception {
    Transfers.Answer answer = way(told[2])
        .transfer(Long.parseLong(told[3]), Long.parseLong(told[4]), Long.parseLong(told[5]));
    System.out.println(told[0] + " " + answer);
  }

  /** As many as it is told go through; what is refused, or comes too late, does not count. */
  private void many(String tag, Transfers way, int number) throws Exception {
    int done = 0;
    while (done < number) {
      // now and then an account that is not there, and more than there is
      long from = 1L + random.nextInt(ACCOUNTS + 1);
      long to = 1 + (from + random.nextInt(ACCOUNTS)) % (ACCOUNTS + 1);
      Transfers.Answer answer = way.transfer(from, to, 1L + random.nextInt(300));
      done += answer == Transfers.Answer.TRANSFERRED ? 1 : 0;
    }
    System.out.println(tag + " done");
  }

  private static void readLine(BufferedReader in) {
    try {
      in.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
