// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The line of requests: nobody is overtaken, and no failure stops it. */
class SqliteWriterTest {
  @TempDir
  private Path folder;

  private final List<String> concluded = new CopyOnWriteArrayList<>();
  private SqliteWriter writer;

  private final AtomicBoolean callerWaits = new AtomicBoolean(true);

  /** How often no thread can be made. */
  private final AtomicInteger threadless = new AtomicInteger();

  @BeforeEach
  void open() {
    SqliteOptions options = SqliteOptions.of(folder.resolve("locks.db"));
    StoreRuntime runtime = new StoreRuntime(
        "writer",
        Ticker.system(),
        (task, delayNanos) -> () -> {},
        new SplittableRandom(1),
        Duration.ofSeconds(2),
        callerWaits::get);
    SqliteContext context = new SqliteContext(options, "sqlite:locks.db", runtime, new NoEvents());
    ThreadPoolExecutor thread = SqliteContext.thread("writer");
    ThreadFactory usual = thread.getThreadFactory();
    thread.setThreadFactory(task -> {
      if (threadless.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new InternalError("no thread can be made, as a test");
      }
      return usual.newThread(task);
    });
    SqliteDatabase database = new SqliteDatabase(options, "sqlite:locks.db");
    writer = new SqliteWriter(context, new SqliteLane(context, database, thread));
  }

  @AfterEach
  void close() {
    writer.close();
  }

  /**
   * What an attempt leaves behind is there before an end that was sent meanwhile has its turn: else a claim that is over
   * would be waited for until the store is closed.
   */
  @Test
  void aRequest_isConcludedBeforeALaterOneIs() {
    Client.get(writer.submit(new Step("first", () -> {})));
    CompletableFuture<CompletionStage<String>> end = new CompletableFuture<>();
    Step attempt = new Step("attempt", () -> {
      Thread other = new Thread(() -> end.complete(writer.submit(new Step("end", () -> {}))));
      other.start();
      end.join();
    });

    Client.get(writer.submit(attempt));

    Client.get(end.join());
    assertThat(concluded).containsExactly("first", "attempt", "end");
  }

  /** A class that is missing, memory that is used up: that request fails, and the next one is served. */
  @Test
  void anError_failsItsOwnRequestOnly() {
    CompletionStage<String> failing = writer.submit(new Step("failing", () -> {}, () -> {
      throw new LinkageError("as a test");
    }));

    assertThatThrownBy(() -> Client.get(failing))
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(LinkageError.class);
    assertThat(Client.get(writer.submit(new Step("next", () -> {})))).isEqualTo("next");
  }

  /** Even if the answer is already there. */
  @Test
  void anErrorAfterTheAnswer_failsItsOwnRequestOnly() {
    CompletionStage<String> failing = writer.submit(new Step("failing", () -> {
      throw new OutOfMemoryError("as a test");
    }));

    assertThatThrownBy(() -> Client.get(failing))
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(OutOfMemoryError.class);
    assertThat(Client.get(writer.submit(new Step("next", () -> {})))).isEqualTo("next");
  }

  /** The engine's timer tells losses while the disk stands still, for however long. */
  @Test
  void aCallerThatDoesNotWait_neverMeetsTheDisk() {
    AtomicReference<@Nullable Thread> at = new AtomicReference<>();
    Runnable notes = () -> at.set(Thread.currentThread());
    Client.get(writer.submit(new Step("opens the file", () -> {})));

    Await.until("it runs here, as soon as the line is empty", () -> {
      Client.get(writer.submit(new Step("waits", () -> {}, notes)));
      return Thread.currentThread().equals(at.get());
    });

    callerWaits.set(false);
    Client.get(writer.submit(new Step("does not wait", () -> {}, notes)));
    assertThat(at.get()).isNotNull().isNotSameAs(Thread.currentThread());
  }

  /** No thread can be made just now: who stands in line hears of it, and the next one is served. */
  @Test
  void aThreadThatCannotBeMade_failsTheLineOnly() {
    threadless.set(1);
    // nothing is open yet, which is a task for the writer's thread
    CompletionStage<String> failing = writer.submit(new Step("failing", () -> {}));

    assertThatThrownBy(() -> Client.get(failing))
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(InternalError.class);
    assertThat(Client.get(writer.submit(new Step("next", () -> {})))).isEqualTo("next");
    assertThat(concluded).containsExactly("failing failed", "next");
  }

  private final class Step extends SqliteRequest<String> {
    private final String name;
    private final Runnable whenConcluded;
    private final Runnable work;

    Step(String name, Runnable whenConcluded) {
      this(name, whenConcluded, () -> {});
    }

    Step(String name, Runnable whenConcluded, Runnable work) {
      super(Ticker.system().now());
      this.name = name;
      this.whenConcluded = whenConcluded;
      this.work = work;
    }

    @Override
    String run(SqliteSession session) {
      work.run();
      return name;
    }

    @Override
    boolean needsTransaction() {
      return false;
    }

    @Override
    boolean isOverdue(Moment now) {
      return false;
    }

    @Override
    void answered(String answer) {
      whenConcluded.run();
      concluded.add(answer);
    }

    @Override
    void failed() {
      concluded.add(name + " failed");
    }
  }

  private static final class NoEvents implements StoreEvents {
    @Override
    public void granted(ClaimId claim, Grant grant) {}

    @Override
    public void lookAgain(ClaimId claim) {}

    @Override
    public void lookAgainAll() {}

    @Override
    public void disturbed() {}

    @Override
    public void restored() {}

    @Override
    public void lost(ClaimId claim, LossReason reason) {}
  }
}
