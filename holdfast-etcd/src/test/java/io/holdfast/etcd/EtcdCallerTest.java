// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.holdfast.spi.Answer;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.WrongServer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which thread sends a request; requests neither block their caller nor take over its gRPC context. */
@Tag("stores")
@Timeout(120)
class EtcdCallerTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final ByteSequence KEY = ByteSequence.from("a", UTF_8);

  /** The threads that send. */
  private static final class Senders implements ClientInterceptor {
    private final Queue<Thread> all = new ConcurrentLinkedQueue<>();

    @Override
    public <A, B> ClientCall<A, B> interceptCall(
        MethodDescriptor<A, B> method, CallOptions options, Channel next) {
      all.add(Thread.currentThread());
      return next.newCall(method, options);
    }
  }

  private final Senders senders = new Senders();
  private final EtcdClient own = EtcdClient.make(EtcdUnderTest.client().interceptor(senders));
  private final EtcdCalls calls = new EtcdCalls("test", own, new RecordingStart());

  @AfterEach
  void close() {
    own.close();
  }

  @Test
  void requestsOfTheStoresOwnClient_areSentByTheCaller() {
    assertAnswered();
    senders.all.clear();
    assertAnswered();
    Await.value(calls.txn(List.of(), List.of(), List.of()));
    long lease = Await.value(calls.grant(60)).getID();
    Await.value(calls.keepAlive(lease));
    calls.revoke(lease);
    assertThat(senders.all).hasSize(5).containsOnly(Thread.currentThread());
  }

  private void assertAnswered() {
    assertThat(Await.value(calls.get(KEY, EtcdContext.COUNT))).isNotNull();
  }

  /** Without a connection, jetcd resolves names on the thread that asks. */
  @Test
  void requestsOfTheStoresOwnClient_areSentByThePool_untilOneIsAnswered() {
    assertAnswered();
    assertSentByThePool();
    Await.failure(
        calls.ask(() -> CompletableFuture.failedFuture(new IllegalStateException("no answer"))));
    senders.all.clear();
    assertAnswered();
    assertSentByThePool();
    assertAnswered();
    assertThat(senders.all).containsExactly(Thread.currentThread());
  }

  private void assertSentByThePool() {
    assertThat(senders.all)
        .hasSize(1)
        .allSatisfy(sender -> assertThat(sender.getName()).isEqualTo("holdfast-etcd"));
    senders.all.clear();
  }

  /** A name server that does not answer blocks the name's resolution, but not the caller. */
  @Test
  void requests_whileANameIsResolved_doNotKeepTheCaller() {
    HangingResolver resolver = new HangingResolver();
    NameResolverRegistry.getDefaultRegistry().register(resolver);
    EtcdClient hanging = EtcdClient.make(
        Client.builder().target(HangingResolver.SCHEME + ":///db").waitForReady(false));
    try {
      EtcdCalls asked = new EtcdCalls("test", hanging, new RecordingStart());
      CompletableFuture<?> read = asked.get(KEY, EtcdContext.COUNT);
      CompletableFuture<?> renewal = asked.keepAlive(1);
      assertThat(read).isNotDone();
      assertThat(renewal).isNotDone();
      resolver.goesOn.countDown();
      assertThat(Await.failure(read)).isInstanceOf(StoreException.class);
      assertThat(Await.failure(renewal)).isInstanceOf(StoreException.class);
    } finally {
      resolver.goesOn.countDown();
      hanging.close();
      NameResolverRegistry.getDefaultRegistry().deregister(resolver);
    }
  }

  /** Resolves names on the thread that asks, as jetcd's does; finds none. */
  private static final class HangingResolver extends NameResolverProvider {
    private static final String SCHEME = "hanging";

    private final CountDownLatch goesOn = new CountDownLatch(1);

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 5;
    }

    @Override
    public String getDefaultScheme() {
      return SCHEME;
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
      return new NameResolver() {
        @Override
        public String getServiceAuthority() {
          return "db";
        }

        @Override
        public void start(Listener2 listener) {
          try {
            goesOn.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          listener.onError(Status.UNAVAILABLE.withDescription("unknown host db"));
        }

        @Override
        public void shutdown() {}
      };
    }
  }

  @Test
  void closedClient_isNotAsked() {
    own.close();
    assertThat(Await.failure(calls.get(KEY, EtcdContext.COUNT)))
        .isInstanceOfSatisfying(
            StoreException.class, told -> assertThat(told.notApplied()).isTrue());
    assertThat(senders.all).isEmpty();
  }

  /** No thread but the one that reads an answer is woken for what follows upon it. */
  @Test
  void requestsThatFollowAnAnswer_areSentByTheThreadThatReadIt() {
    assertAnswered();
    Thread reader;
    do {
      senders.all.clear();
      reader = Await.value(calls.get(KEY, EtcdContext.COUNT).thenCompose(seen -> {
        Thread thread = Thread.currentThread();
        return calls.get(KEY, EtcdContext.COUNT).thenApply(next -> thread);
      }));
      // the answer may be there before it is waited for
    } while (reader.equals(Thread.currentThread()));
    // Netty's, not one of the pool that gRPC hands answers to
    assertThat(reader.getName()).contains("-worker-");
    assertThat(senders.all).containsExactly(Thread.currentThread(), reader);
  }

  /** The application serves a gRPC call: if that is cancelled, the lock's requests are still answered. */
  @Test
  void requests_ofAThreadWhoseCallIsCancelled_areAnswered() {
    assertAnsweredWhenTheCallersCallIsCancelled(own);
    assertAnsweredWhenTheCallersCallIsCancelled(EtcdClient.given(own.client));
  }

  private static void assertAnsweredWhenTheCallersCallIsCancelled(EtcdClient client) {
    EtcdCalls calls = new EtcdCalls("test", client, new RecordingStart());
    long lease = Await.value(calls.grant(60)).getID();
    assertAnswered(calls, each -> each.get(KEY, EtcdContext.COUNT));
    assertAnswered(calls, each -> each.keepAlive(lease));
    calls.revoke(lease);
  }

  private static void assertAnswered(
      EtcdCalls calls, Function<EtcdCalls, CompletionStage<?>> request) {
    Context.CancellableContext cancelled = Context.current().withCancellation();
    cancelled.cancel(null);
    Context before = cancelled.attach();
    try {
      Context attached = Context.current();
      assertThat(attached.isCancelled()).isTrue();
      assertThat(Await.value(request.apply(calls))).isNotNull();
      assertThat(Context.current()).isSameAs(attached);
    } finally {
      cancelled.detach(before);
    }
  }

  /** Connecting may take long, but does not block the caller; if the store is closed meanwhile, the request fails. */
  @Test
  void attempt_onASilentServer_doesNotKeepTheCaller() throws Exception {
    try (WrongServer silent = WrongServer.silent()) {
      EtcdStore store = EtcdStore.at(
          StoreAddress.parse("etcd://127.0.0.1:" + silent.port() + "?holdfast.connect-timeout=1m"));
      RecordingStart engine = new RecordingStart();
      store.start(engine.runtime(), engine);
      CompletionStage<Answer> asked = store.attempt(
          engine.claim(LockKey.of("job"), LEASE), Mode.QUEUE, store.time().plus(LEASE));
      assertThat(asked.toCompletableFuture()).isNotDone();
      store.close();
      assertThat(Await.failure(asked)).isInstanceOf(StoreException.class);
    }
  }
}
