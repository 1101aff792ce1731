// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.AcquireUnknownException;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One copy of the shop, for {@link FlashSaleTest}. It is told a buyer, and says {@code BUYER ANSWER}; or {@code all}, takes
 * an order of each of them on eight threads, and says {@code done}. Told {@code freeze BUYER} it takes the buyer's order,
 * says {@code checked} when it has looked, and goes on when it is told to.
 */
final class SaleMachine {
  static final int BUYERS = 200;
  static final long ITEM = 1;

  private SaleMachine() {}

  static String buyer(int number) {
    return "buyer-" + number;
  }

  /** Arguments: the store, the database, the lease in milliseconds. */
  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    SaleTables tables = new SaleTables(() -> DriverManager.getConnection(args[1]));
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofMillis(Long.parseLong(args[2])))
        .build();
    FlashSale.Sale sale = new FlashSale.Sale(ITEM, Instant.EPOCH, Instant.MAX);
    try (Holdfast holdfast = Machine.connect(args[0])) {
      FlashSale shop = new FlashSale(holdfast, options, tables, Ticker.system(), sale);
      FlashSale freezing = new FlashSale(holdfast, options, tables, Ticker.system(), sale) {
        @Override
        void beforeWriting(String user) {
          System.out.println("checked");
          readLine(in);
        }
      };
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("all")) {
          orderForAll(shop);
        } else if (line.startsWith("freeze ")) {
          order(freezing, line.substring("freeze ".length()));
        } else {
          order(shop, line);
        }
      }
    }
  }

  private static void orderForAll(FlashSale shop) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> orders = new ArrayList<>();
      for (int i = 0; i < BUYERS; i++) {
        String buyer = buyer(i);
        orders.add(threads.submit(() -> {
          order(shop, buyer);
          return null;
        }));
      }
      for (Future<?> order : orders) {
        order.get();
      }
    } finally {
      threads.shutdown();
    }
    System.out.println("done");
  }

  /** Who gets no answer in time, on a machine this busy, asks again. */
  private static void order(FlashSale shop, String buyer) throws SQLException {
    while (true) {
      try {
        System.out.println(buyer + " " + shop.order(buyer));
        return;
      } catch (AcquireUnknownException e) {
        System.err.println(e.getMessage());
      } catch (StoreUnavailableException e) {
        if (e.reason() != StoreUnavailableException.Reason.UNREACHABLE) {
          throw e;
        }
        System.err.println(e.getMessage());
      }
    }
  }

  private static void readLine(BufferedReader in) {
    try {
      in.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
