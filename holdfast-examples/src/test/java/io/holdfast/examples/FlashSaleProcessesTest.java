// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.Signals;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** 200 buyers, each of whom clicks in four copies of the shop at once; 150 pieces; locks in Redis, orders in SQL. */
@Tag("stores")
class FlashSaleProcessesTest {
  private static final int PIECES = 150;
  private static final int LEASE_MILLIS = 1_000;
  private static final String FROZEN = SaleMachine.buyer(7);

  @TempDir
  Path folder = Path.of("set before each test");

  private final List<Started> shops = new ArrayList<>();

  @AfterEach
  void endWhatIsLeft() throws InterruptedException {
    for (Started shop : shops) {
      shop.process().destroyForcibly().waitFor();
    }
  }

  /** One of the shops is frozen between looking and writing, until long after its lease. */
  @Test
  void everyPieceIsSoldOnce_andNoBuyerHasTwo() throws Exception {
    int port = ServerProcess.freePort();
    // 32 threads want one row, the stock: on a slow machine they wait for longer than the database's second or two
    // this process keeps the database open for the others, and is not frozen
    String url = "jdbc:h2:" + folder.resolve("sale") + ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=60000";
    try (ServerProcess redis = ServerProcess.of("redis-server");
        Connection connection = DriverManager.getConnection(url)) {
      redis.start(List.of(
          "--port",
          Integer.toString(port),
          "--bind",
          "127.0.0.1",
          "--dir",
          redis.folder().toString(),
          "--save",
          ""));
      open(url);
      openShops(FirstAnswer.of(redis, "redis://127.0.0.1:" + port), url);

      Started frozen = shops.get(0);
      frozen.tell("freeze " + FROZEN);
      Started.until("it has looked", () -> frozen.hasSaid("checked"));
      Signals.send("STOP", List.of(frozen.process().pid()));
      untilOrdered(shops.get(1), FROZEN);
      for (Started shop : shops.subList(1, 4)) {
        shop.tell("all");
      }
      Signals.send("CONT", List.of(frozen.process().pid()));
      frozen.tell("go on");
      Started.until(
          "it is told that it is too late", () -> frozen.hasSaid(FROZEN + " ALREADY_ORDERED"));
      frozen.tell("all");
      Started.until(
          "all are served, or a shop has failed",
          () -> shops.stream()
              .allMatch(shop -> shop.hasSaid("done") || !shop.process().isAlive()));
      assertThat(shops)
          .allSatisfy(shop -> assertThat(Files.readString(shop.said())).contains("done"));

      assertThat(number(connection, "select pieces from stock")).isZero();
      assertThat(number(connection, "select count(*) from orders")).isEqualTo(PIECES);
      assertThat(number(connection, "select count(distinct buyer) from orders")).isEqualTo(PIECES);
      assertThat(number(connection, "select count(*) from orders where buyer = '" + FROZEN + "'"))
          .isEqualTo(1);
    }
  }

  private static void open(String url) throws Exception {
    SaleTables tables = new SaleTables(() -> DriverManager.getConnection(url));
    tables.create(SaleMachine.ITEM, PIECES);
    for (int i = 0; i < SaleMachine.BUYERS; i++) {
      tables.addAccount(SaleMachine.buyer(i));
    }
  }

  private void openShops(String store, String url) throws Exception {
    for (int i = 0; i < 4; i++) {
      shops.add(Started.start(
          folder,
          "shop" + i,
          HourlyMessageCases.java(
              SaleMachine.class.getName(), store, url, Integer.toString(LEASE_MILLIS))));
    }
    Started.until(
        "all shops are open", () -> shops.stream().allMatch(shop -> shop.hasSaid("ready")));
  }

  /** The buyer clicks again and again, until the lease of the frozen shop has ended. */
  private static void untilOrdered(Started shop, String buyer) throws Exception {
    int[] clicks = {0};
    Started.until("the lease has ended", () -> {
      if (shop.count(buyer) == clicks[0]) {
        clicks[0]++;
        shop.say(buyer);
      }
      return shop.hasSaid(buyer + " ORDERED");
    });
  }

  private static int number(Connection connection, String sql) throws Exception {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
