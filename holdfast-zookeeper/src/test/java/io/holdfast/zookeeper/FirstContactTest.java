// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that have no leader when they are first asked, and are asked again before the contact fails. */
@Timeout(120)
@Tag("stores")
class FirstContactTest {
  private static final String NOT_SERVING =
      "This ZooKeeper instance is not currently serving requests\n";
  private static final String SERVING = "Zookeeper version: 3.9.4\n";

  private final Ticker clock = new ManualClock();
  private final BlockingQueue<Runnable> timer = new LinkedBlockingQueue<>();
  private final Asked asked = new Asked();
  private final Late clients = new Late(
      new ZooKeeperAddress(
          StoreAddress.parse("zookeeper://" + ZooKeeperUnderTest.server().address() + "/late")),
      asked);
  private final ZooKeeperPaths paths = new ZooKeeperPaths("/late");
  private final ZooKeeperSession session =
      new ZooKeeperSession(clients.client(40_000), true, paths.nothing(), clock, new Deaf());
  private final FirstContact contact = new FirstContact(
      "late",
      clients.address.settings(),
      clients,
      paths,
      session,
      new StoreRuntime("a".repeat(32), clock, byHand(), new Random(1), Duration.ofSeconds(9)),
      false);

  /** The tasks wait until the test runs them. */
  private Scheduler byHand() {
    return (task, delayNanos) -> {
      timer.add(task);
      return () -> timer.remove(task);
    };
  }

  @AfterEach
  void close() throws IOException {
    session.close();
    clients.close();
    asked.close();
  }

  /** A look for the reason, then another look. */
  private Runnable nextLook() throws InterruptedException {
    Runnable task = timer.poll(Await.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    return Objects.requireNonNull(task, "no look was scheduled");
  }

  /** ZooKeeper's client may come back to a server later than that serves. */
  @Test
  void serverThatServesByThen_isWaitedFor() throws InterruptedException {
    CompletionStage<@Nullable Void> made = contact.make();
    nextLook().run();
    Runnable again = nextLook();
    asked.answer = SERVING;
    int before = asked.answered.get();
    again.run();
    Await.until("it has been asked again", () -> asked.answered.get() >= before + 2);
    clients.mayConnect = true;
    Await.value(contact.make());
    Await.value(made);
  }

  @Test
  void whatIsTheMatterByThen_isTold() throws InterruptedException {
    CompletionStage<@Nullable Void> made = contact.make();
    nextLook().run();
    Runnable again = nextLook();
    asked.answer = "220 mail.example\n";
    again.run();
    assertThat(Await.failure(made))
        .hasMessageStartingWith(
            "the server did not answer as ZooKeeper does, but with \"220 mail.example\"");
  }

  @Test
  void serverThatStillDoesNotServe_isTold() throws InterruptedException {
    CompletionStage<@Nullable Void> made = contact.make();
    nextLook().run();
    nextLook().run();
    assertThat(Await.failure(made)).hasMessageStartingWith(NOT_SERVING.strip());
    assertThat(timer).isEmpty();
  }

  /** The engine does not take back what it was asked to run later when the store is closed. */
  @Test
  void closedStore_asksNoMore() throws InterruptedException {
    CompletionStage<@Nullable Void> made = contact.make();
    nextLook().run();
    Runnable again = nextLook();
    awaitNoQuestion();
    session.close();
    int before = asked.answered.get();
    again.run();
    awaitNoQuestion();
    // the server takes one connection after the other, this one last
    Await.value(new ServerWords(Await.PATIENCE, Ticker.system(), ServerWords.PLAIN)
        .ask(clients.servers(), "srvr"));
    Await.until("that is counted", () -> asked.answered.get() > before);
    assertThat(asked.answered).hasValue(before + 1);
    assertThat(made.toCompletableFuture()).isNotDone();
  }

  private static void awaitNoQuestion() {
    Await.until(
        "no thread asks a server",
        () -> Thread.getAllStackTraces().keySet().stream()
            .noneMatch(each -> each.getName().equals("holdfast-zookeeper-ask")));
  }

  /** Connects to its server when it may, while another one is asked how that is. */
  private static final class Late extends HandledClients {
    private final Asked asked;
    private volatile boolean mayConnect;

    Late(ZooKeeperAddress address, Asked asked) {
      super(address);
      this.asked = asked;
    }

    @Override
    public String servers() {
      return "127.0.0.1:" + asked.listening.getLocalPort();
    }

    @Override
    public ZooKeeper newZooKeeper(
        String servers,
        int sessionTimeout,
        Watcher watcher,
        boolean canBeReadOnly,
        ZKClientConfig config)
        throws IOException {
      if (!mayConnect) {
        throw new IOException("not yet");
      }
      return new ZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, config);
    }
  }

  /** Answers every question with the same words. */
  private static final class Asked implements AutoCloseable {
    private final ServerSocket listening;
    private final AtomicInteger answered = new AtomicInteger();
    private volatile String answer = NOT_SERVING;

    Asked() {
      try {
        listening = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Thread thread = new Thread(this::serve, "asked-server");
      thread.setDaemon(true);
      thread.start();
    }

    private void serve() {
      while (!listening.isClosed()) {
        try (Socket client = listening.accept()) {
          if (client.getInputStream().read(new byte[4096]) >= 0) {
            answered.incrementAndGet();
            client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            // what is unread would make an end of the connection a reset, which may overtake the answer
            client.shutdownOutput();
          }
        } catch (IOException e) {
          // the client has hung up, or the test is over
        }
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  /** Hears nothing. */
  private static final class Deaf implements ZooKeeperSession.Listener {
    @Override
    public void disturbed() {}

    @Override
    public void restored(int sessionMillis) {}

    @Override
    public void ended(ZooKeeperSession session, long sessionId) {}
  }
}
