// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Guarantee;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.StoreUnavailableException;
import io.holdfast.jdbc.DataLocks;
import io.holdfast.jdbc.FencingGuard;
import io.holdfast.jdbc.JdbcStore;
import io.holdfast.jdbc.SessionHold;
import io.holdfast.redis.OneTimeTokens;
import io.holdfast.redis.RedisGuard;
import io.holdfast.redis.RedisStore;
import io.holdfast.testkit.Faults;
import io.holdfast.testkit.HoldfastExtension;
import io.holdfast.testkit.ManualClock;
import io.holdfast.testkit.Rival;
import io.holdfast.testkit.Verb;
import io.lettuce.core.RedisClient;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * The Java code of the READMEs and of docs: {@link DocumentsTest} finds each of its blocks here, and {@link
 * DocumentSnippetsTest} runs it. Names around the blocks are for the reader's imagination.
 */
final class DocumentSnippets {
  /** A table with a column for the greatest token seen. */
  @FunctionalInterface
  interface Database {
    int update(String sql, Object... arguments);
  }

  /** Something to work on. */
  record Order(int number) {}

  private final Database jdbcTemplate;
  private final List<String> log;

  DocumentSnippets(Database jdbcTemplate, List<String> log) {
    this.jdbcTemplate = jdbcTemplate;
    this.log = log;
  }

  private void work(Hold hold) {
    log("worked with " + hold.token());
  }

  private String summarise(Hold hold) {
    return "summary " + hold.token();
  }

  private void ship(Order order, long token) {
    log("shipped " + order.number() + " with " + token);
  }

  private void withdraw(Connection connection, int account, int amount) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(
        "UPDATE snippet_accounts SET balance = balance - ? WHERE id = ?")) {
      update.setInt(1, amount);
      update.setInt(2, account);
      log("withdrew from " + update.executeUpdate());
    }
  }

  private void migrate(SessionHold hold) {
    log("migrated " + hold.isValid());
  }

  private void log(String line) {
    log.add(line);
  }

  /** The first screen's program, in the folder that it is started in. */
  public static void main(String[] args) throws InterruptedException {
    firstScreen();
  }

  static void firstScreen() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect(
        "sqlite:locks.db")) { // in the working folder; one for each process and store
      DistributedLock lock = holdfast.lock("hourly-report"); // no I/O yet
      try (Hold hold = lock.acquire()) { // waits until this thread has the lock
        System.out.println("working, token " + hold.token());
      } // released
    }
  }

  void checkOneRow(Hold hold, long orderId) {
    int rows = jdbcTemplate.update(
        "UPDATE orders SET state = 'sent', fence = ? WHERE id = ? AND fence <= ?",
        hold.token(),
        orderId,
        hold.token());
    if (rows == 0) throw new IllegalStateException("stale token, or no such row");
  }

  void client() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("redis://localhost")) {
      DistributedLock lock = holdfast.lock("order:42"); // no I/O
      lock.run(hold -> work(hold));
    }
  }

  void bothLocks(Lock old, DistributedLock lock) throws InterruptedException {
    old.lock();
    try (Hold hold = lock.acquire(Duration.ofSeconds(10))) { // only release 3 can be in the way
      work(hold);
    } finally {
      old.unlock();
    }
  }

  void acquire(DistributedLock lock) throws InterruptedException {
    try (Hold hold = lock.acquire()) { // waits as long as it takes
      work(hold);
    }
    try (Hold hold = lock.acquire(
        Duration.ofSeconds(10))) { // else AcquireTimeoutException, which names the holder
      work(hold);
    }
    lock.run(hold -> work(hold)); // acquires, works, releases
    String report = lock.call(hold -> summarise(hold));
    log(report);
  }

  void tryToAcquire(DistributedLock lock) throws InterruptedException {
    Optional<Hold> free = lock.tryAcquire(); // one attempt; empty only if another holder has it
    if (free.isPresent()) {
      try (Hold hold = free.get()) {
        work(hold);
      }
    }
    boolean ran =
        lock.tryRun(hold -> work(hold)); // false: the lock was taken, and the work was not done
    Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(5)); // waits for 5 s at most
    if (soon.isPresent()) {
      try (Hold hold = soon.get()) {
        work(hold);
      }
    }
    log("ran " + ran);
  }

  void checkTheToken(Hold hold, int item, int pieces) {
    int rows = jdbcTemplate.update(
        "UPDATE stock SET pieces = ?, fence = ? WHERE item = ? AND fence <= ?",
        pieces,
        hold.token(),
        item,
        hold.token());
    if (rows == 0) {
      throw new IllegalStateException(
          "token " + hold.token() + " is stale: a newer holder has written");
    }
  }

  boolean put(Hold hold, int item, int pieces) {
    int rows = jdbcTemplate.update(
        "INSERT INTO stock AS s (item, pieces, fence) VALUES (?, ?, ?) ON CONFLICT (item) DO UPDATE"
            + " SET pieces = excluded.pieces, fence = excluded.fence WHERE s.fence <= excluded.fence",
        item,
        pieces,
        hold.token());
    return rows > 0;
  }

  DistributedLock options(Holdfast holdfast) {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(
            20)) // how long the lock stays taken if the holder dies; default 30 s
        .renew(true) // renewed for as long as it is held (the default); false: a fixed lease
        .holdAtMost(Duration.ofMinutes(
            10)) // the hold is lost after 10 min, however often it was renewed
        .holdAtLeast(
            Duration.ofSeconds(50)) // after success it stays taken until 50 s after the grant
        .fair(true) // order of arrival between processes, where the store can
        .note("nightly report") // operators see it in "holdfast ls"
        .build();
    DistributedLock nightly = holdfast.lock("nightly", options);
    return nightly;
  }

  void loss(DistributedLock lock, List<Order> batch) throws InterruptedException {
    try (Hold hold = lock.acquire()) {
      for (Order order : batch) {
        hold.ensureValid(); // else HoldLostException; local, no I/O
        ship(order, hold.token());
      }
    }
  }

  List<LockOptions> toldOfLoss() {
    LockOptions told = LockOptions.builder()
        .onLost(OnLost.call(loss -> log(loss.reason() + ", token " + loss.token())))
        .build();
    LockOptions stopped =
        LockOptions.builder().onLost(OnLost.interruptAcquirer()).build();
    return List.of(told, stopped);
  }

  CompletableFuture<Void> futureOfLoss(Hold hold) {
    CompletableFuture<Void> after =
        hold.lost().thenRun(() -> log("lost")); // completes once, if ever
    return after;
  }

  void javaLock(DistributedLock lock, Order order) {
    JavaLock javaLock = lock.asJavaLock(); // reentrant, owned by the thread
    javaLock.lock();
    try {
      javaLock.lock(); // no I/O, and the same token
      try {
        ship(order, javaLock.hold().token());
      } finally {
        javaLock.unlock();
      }
    } finally {
      javaLock.unlock();
    }
  }

  CompletableFuture<Void> async(DistributedLock lock) {
    CompletableFuture<Void> done = lock.acquireAsync(Duration.ofSeconds(10)).thenAccept(hold -> {
      try (hold) {
        work(hold);
      }
    });
    return done;
  }

  @ExtendWith(HoldfastExtension.class)
  static class OrderServiceTest {
    @Test // with @ExtendWith(HoldfastExtension.class) on the class
    void save_afterTheHoldWasLost_isRefused(Holdfast holdfast, Faults faults) throws Exception {
      Hold hold = holdfast.lock("order:42").acquire(); // as your code does
      faults.loseHold("order:42"); // as if a pause had outlasted the lease; no sleep
      assertThrows(
          HoldLostException.class, hold::ensureValid); // and how your code should react
    }

    @Test
    void anotherProcessHasTheLock(Holdfast holdfast, Rival rival) throws Exception {
      Hold theirs = rival.take("order:42");
      assertTrue(holdfast.lock("order:42").tryAcquire().isEmpty());
      theirs.close();
    }

    @Test
    void theProcessWasPaused(Holdfast holdfast, ManualClock clock, Rival rival) throws Exception {
      Hold hold = holdfast.lock("order:42").acquire();
      clock.freeze(Duration.ofSeconds(40)); // nothing runs for 40 s, and the lease of 30 s ends
      Hold theirs = rival.take("order:42");
      assertTrue(hold.token() < theirs.token());
      assertThrows(HoldLostException.class, hold::ensureValid);
    }

    @Test
    void theStoreIsDown(Holdfast holdfast, Faults faults, ManualClock clock) {
      faults.on(Verb.ATTEMPT).fail(); // until faults.heal(); for renewals: Verb.KEEP
      assertThrows(
          StoreUnavailableException.class,
          () -> clock.whileTimePasses(() -> holdfast.lock("order:42").tryAcquire()));
    }

    @Test
    void theReplyIsLost(Holdfast holdfast, Faults faults, ManualClock clock) {
      faults.on(Verb.ATTEMPT).loseReply(); // granted in the store, and no answer comes
      assertThrows(
          AcquireUnknownException.class,
          () -> clock.whileTimePasses(() -> holdfast.lock("order:42").tryAcquire()));
    }
  }

  Holdfast atStartUp() {
    Holdfast checked = Holdfast.builder()
        .store("sqlite:locks.db")
        .clientName("billing") // operators see it as the holder
        .listener(event -> log(event.toString()))
        .build();
    checked.guarantees().require(Guarantee.EXCLUDES_PROCESSES, Guarantee.TOKENS_SURVIVE_RESTART);
    return checked;
  }

  static List<Holdfast> onYourOwn(DataSource dataSource, RedisClient redisClient) {
    Holdfast onYourPool = Holdfast.builder().store(JdbcStore.using(dataSource)).build();
    Holdfast onYourClient =
        Holdfast.builder().store(RedisStore.using(redisClient)).build();
    return List.of(onYourPool, onYourClient);
  }

  void guardedTransaction(DataSource dataSource, DistributedLock lock)
      throws SQLException, InterruptedException {
    FencingGuard.createTable(dataSource); // once; "holdfast ddl --data" prints it

    try (Hold hold = lock.acquire();
        Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      FencingGuard.check(
          connection, "account:42", hold.token()); // first; after the commit older tokens fail
      withdraw(connection, 42, 30);
      connection.commit();
    }
  }

  static void guardedValue(RedisClient redisClient, DistributedLock lock, byte[] bytes)
      throws InterruptedException {
    try (RedisGuard guard = RedisGuard.using(redisClient);
        Hold hold = lock.acquire()) {
      guard.write("stock:7", bytes, hold.token());
    }
  }

  void locksInTheDatabase(DataSource dataSource) throws SQLException, InterruptedException {
    DataLocks locks = DataLocks.of(dataSource);
    locks.createTables(); // once

    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      locks
          .rowLock("account:42")
          .hold(connection, Duration.ofSeconds(5)); // until the transaction ends
      withdraw(connection, 42, 30);
      connection.commit();
    }

    locks
        .optimistic("account:42")
        .run(connection -> withdraw(connection, 42, 30)); // again if another one came first

    try (SessionHold hold =
        locks.sessionLock("migration").acquire()) { // held while its connection is open
      migrate(hold);
    }
  }

  void form(RedisClient redisClient) throws InterruptedException {
    try (OneTimeTokens forms = OneTimeTokens.using(redisClient)) {
      String token =
          forms.issue("user:7", "order", Duration.ofMinutes(10)); // goes into the form
      log("first " + forms.consume(token, "user:7", "order")); // ACCEPTED
      log("second " + forms.consume(token, "user:7", "order")); // GONE
    }
  }

  static boolean force(Holdfast holdfast) {
    Optional<LockInfo> seen =
        holdfast.admin().inspect("nightly"); // holder, since when, how long the lease still has
    boolean ended = seen.isPresent()
        && holdfast.admin().forceRelease(seen.get()); // ends that hold, and no later one
    return ended;
  }

  /** On the application's pool. */
  @Configuration(proxyBeanMethods = false)
  static class PoolConfiguration {
    @Bean(destroyMethod = "close")
    Holdfast holdfastOnThePool(DataSource dataSource) {
      return Holdfast.builder()
          .store(JdbcStore.using(dataSource))
          .clientName("billing")
          .build();
    }
  }

  /** On a Lettuce client of the application's own. */
  @Configuration(proxyBeanMethods = false)
  static class RedisConfiguration {
    @Bean(destroyMethod = "shutdown")
    RedisClient lockClient(@Value("${spring.data.redis.url}") String url) {
      return RedisClient.create(url);
    }

    @Bean(destroyMethod = "close")
    Holdfast holdfastOnRedis(RedisClient lockClient) {
      return Holdfast.builder()
          .store(RedisStore.using(lockClient))
          .clientName("billing")
          .build();
    }
  }

  /** What was written for ShedLock. */
  abstract static class Report {
    private final Holdfast holdfast;

    Report(Holdfast holdfast) {
      this.holdfast = holdfast;
    }

    abstract void send(long token);

    abstract void log(String line);

    // before: @SchedulerLock(name = "report", lockAtMostFor = "10m", lockAtLeastFor = "50s")
    @Scheduled(cron = "0 0 * * * *")
    void report() throws InterruptedException {
      LockOptions options = LockOptions.builder()
          .holdAtLeast(
              Duration.ofSeconds(50)) // lockAtLeastFor: from the grant on, after success only
          .build(); // lockAtMostFor: nothing, the lease of 30 s is renewed until send returns
      boolean ran = holdfast.lock("report", options).tryRun(hold -> send(hold.token()));
      if (!ran) {
        log("another machine does it");
      }
    }
  }

  /** What was written for Redisson. */
  void fixedLease(Holdfast holdfast) throws InterruptedException {
    LockOptions fixed =
        LockOptions.builder().leaseFor(Duration.ofSeconds(10)).renew(false).build();
    JavaLock lock = holdfast.lock("order:42", fixed).asJavaLock();

    lock.lock(); // before: lock.lock(10, TimeUnit.SECONDS)
    try {
      work(lock.hold());
    } finally {
      lock.unlock();
    }
    if (lock.tryLock(5, TimeUnit.SECONDS)) { // before: lock.tryLock(5, 10, TimeUnit.SECONDS)
      try {
        work(lock.hold());
      } finally {
        lock.unlock();
      }
    }
  }

  /** Of a service that runs a job itself. */
  abstract static class Job {
    private final Holdfast holdfast;

    Job(Holdfast holdfast) {
      this.holdfast = holdfast;
    }

    abstract void send(long token);

    @Scheduled(cron = "0 0 * * * *")
    void everyHour() throws InterruptedException {
      LockOptions once =
          LockOptions.builder().holdAtLeast(Duration.ofMinutes(50)).build();
      Optional<Hold> first =
          holdfast.lock("hourly-message", once).tryAcquire(Duration.ofMinutes(5));
      if (first.isPresent()) {
        Hold hold = first.get();
        try {
          send(hold.token());
          hold.close(); // stays taken, for the machines that still wait
        } finally {
          hold
              .releaseNow(); // after a failure the next machine tries; after close() this does nothing
        }
      }
    }
  }
}
