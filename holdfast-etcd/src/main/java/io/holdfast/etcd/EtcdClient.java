// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * jetcd's client, the store's own or the application's, and on which thread it is asked.
 *
 * <p>What the store's own client is asked, the asking thread sends, as long as answers come. Before the first one, after a failure
 * and after a long pause, a thread of the client's pool does: there may be no connection then, and jetcd resolves the members'
 * names on the thread that asks, however long that takes.
 */
final class EtcdClient {
  /** Less than the half an hour without a request after which gRPC closes its connections and forgets the members' addresses. */
  private static final Duration IN_USE = Duration.ofMinutes(20);

  /**
   * Answers are told by Netty's thread that reads them: what follows in this store and in the engine does not block, and another
   * thread would have to be woken for it.
   */
  private static final ClientInterceptor TOLD_AT_ONCE = new ClientInterceptor() {
    @Override
    public <A, B> ClientCall<A, B> interceptCall(
        MethodDescriptor<A, B> method, CallOptions options, Channel next) {
      return next.newCall(method, options.withExecutor(Runnable::run));
    }
  };

  final Client client;

  /** Of the store's own client alone: the application's has what the application gave it. */
  private final @Nullable CallerExecutor executor;

  private final Ticker ticker = Ticker.system();
  private volatile boolean answers;
  private volatile long answeredNanos;
  private volatile boolean closed;

  private EtcdClient(Client client, @Nullable CallerExecutor executor) {
    this.client = client;
    this.executor = executor;
  }

  /** One that the application made, and closes. */
  static EtcdClient given(Client client) {
    return new EtcdClient(client, null);
  }

  /** Makes one. No I/O: it connects with its first request. */
  static EtcdClient make(ClientBuilder builder) {
    CallerExecutor executor = new CallerExecutor();
    ClientBuilder own = builder.copy().executorService(executor).interceptor(TOLD_AT_ONCE);
    return new EtcdClient(own.build(), executor);
  }

  /** Asks the client; how that ends is to be told by {@link #answered} or {@link #failed}. */
  <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> question) {
    CallerExecutor own = executor;
    if (own == null) {
      return inNoContext(question);
    }
    boolean isInUse = answers && ticker.nanos() - answeredNanos < IN_USE.toNanos();
    return isInUse
        ? inNoContext(() -> own.ask(question))
        : CompletableFuture.completedFuture(own).thenComposeAsync(pool -> pool.ask(question), own);
  }

  /**
   * Does something in none of gRPC's contexts. The application's on this thread is of a call that the application answers: its
   * deadline, or its cancellation, would end what is asked for a lock.
   */
  static <T> T inNoContext(Supplier<T> task) {
    Context callers = Context.ROOT.attach();
    try {
      return task.get();
    } finally {
      Context.ROOT.detach(callers);
    }
  }

  /** A request was answered. */
  void answered() {
    answeredNanos = ticker.nanos();
    answers = true;
  }

  /** A request failed, or was refused. */
  void failed() {
    answers = false;
  }

  /** Whether the store's own client was closed: it would open another connection, which nothing closes. */
  boolean isClosed() {
    return closed;
  }

  /** Closes the store's own client; leaves the application's open. */
  void close() {
    if (executor != null) {
      closed = true;
      client.close();
      executor.shutdown();
    }
  }
}
