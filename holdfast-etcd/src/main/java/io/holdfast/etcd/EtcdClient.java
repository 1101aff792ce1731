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
 * jetcd's client, the store's own or the application's. Decides which thread sends a request.
 *
 * <p>With the store's own client the calling thread sends, as long as requests are answered. Before the first answer, after
 * a failure and after a long pause, a thread of the client's pool sends: if there is no connection, jetcd resolves the
 * members' names on the thread that sends, however long that takes.
 */
final class EtcdClient {
  /** Less than the 30 minutes without a request after which gRPC closes its connections and forgets the members' addresses. */
  private static final Duration IN_USE = Duration.ofMinutes(20);

  /**
   * Netty's thread that reads an answer completes the request: what follows in this store and in the engine does not block,
   * and a pool would have to wake another thread.
   */
  private static final ClientInterceptor DIRECT_EXECUTOR = new ClientInterceptor() {
    @Override
    public <A, B> ClientCall<A, B> interceptCall(
        MethodDescriptor<A, B> method, CallOptions options, Channel next) {
      return next.newCall(method, options.withExecutor(Runnable::run));
    }
  };

  final Client client;

  /** Null for the application's client, which keeps the executor that the application chose. */
  private final @Nullable CallerExecutor executor;

  private final Ticker ticker = Ticker.system();
  private volatile boolean answers;
  private volatile long answeredNanos;
  private volatile boolean closed;

  private EtcdClient(Client client, @Nullable CallerExecutor executor) {
    this.client = client;
    this.executor = executor;
  }

  /** Returns a wrapper of the application's client, which {@link #close} leaves open. */
  static EtcdClient given(Client client) {
    return new EtcdClient(client, null);
  }

  /** Makes the store's own client. No I/O: it connects with its first request. */
  static EtcdClient make(ClientBuilder builder) {
    CallerExecutor executor = new CallerExecutor();
    ClientBuilder own = builder.copy().executorService(executor).interceptor(DIRECT_EXECUTOR);
    return new EtcdClient(own.build(), executor);
  }

  /**
   * Sends a request through the client. The caller has to report its end by {@link #answered} or {@link #failed}.
   *
   * @return jetcd's answer or failure
   * @throws RuntimeException if jetcd refuses the request at once, on the calling thread
   */
  <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> question) {
    CallerExecutor own = executor;
    if (own == null) {
      return inRootContext(question);
    }
    boolean isInUse = answers && ticker.nanos() - answeredNanos < IN_USE.toNanos();
    return isInUse
        ? inRootContext(() -> own.ask(question))
        : CompletableFuture.completedFuture(own).thenComposeAsync(pool -> pool.ask(question), own);
  }

  /**
   * Runs a task in gRPC's root context. The calling thread's context may belong to a call that the application serves: its
   * deadline or cancellation would end a request for a lock.
   */
  static <T> T inRootContext(Supplier<T> task) {
    Context callers = Context.ROOT.attach();
    try {
      return task.get();
    } finally {
      Context.ROOT.detach(callers);
    }
  }

  /** Notes that a request was answered: from now on the calling threads send. */
  void answered() {
    answeredNanos = ticker.nanos();
    answers = true;
  }

  /** Notes that a request failed: the pool sends until one is answered. */
  void failed() {
    answers = false;
  }

  /** Returns whether the store's own client is closed. It must not be asked then: it would open a connection that nothing closes. */
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
