// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.WatchOption;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Asks etcd through jetcd's client, says what failures mean, and tells the engine when requests begin to fail and when
 * they are answered again. The client repeats by itself only what was refused for an old login.
 */
final class EtcdCalls {
  private final String store;
  private final EtcdClient client;
  private final StoreEvents events;
  private final AtomicBoolean disturbed = new AtomicBoolean();

  EtcdCalls(String store, EtcdClient client, StoreEvents events) {
    this.store = store;
    this.client = client;
    this.events = events;
  }

  Client client() {
    return client.client;
  }

  /** Closes the client, if it is the store's own: requests under way, and later ones, then fail. A given client stays open. */
  void close() {
    client.close();
  }

  CompletableFuture<GetResponse> get(ByteSequence key, GetOption option) {
    return ask(() -> client().getKVClient().get(key, option));
  }

  CompletableFuture<TxnResponse> txn(List<Cmp> when, List<Op> then, List<Op> otherwise) {
    return ask(() -> commit(when, then, otherwise));
  }

  /**
   * As {@link #txn}, for a claim that asks for its place: a failure is not reported as a disturbance, since the queue may be too
   * long, and no hold depends on it.
   */
  CompletableFuture<TxnResponse> look(List<Cmp> when, List<Op> then, List<Op> otherwise) {
    return ask(() -> commit(when, then, otherwise), false);
  }

  private CompletableFuture<TxnResponse> commit(List<Cmp> when, List<Op> then, List<Op> otherwise) {
    Txn txn = client().getKVClient().txn();
    return txn.If(when.toArray(Cmp[]::new))
        .Then(then.toArray(Op[]::new))
        .Else(otherwise.toArray(Op[]::new))
        .commit();
  }

  /** Begins a lease. One that is refused for want of space may have begun all the same: it ends unused. */
  CompletableFuture<LeaseGrantResponse> grant(long seconds) {
    return ask(() -> client().getLeaseClient().grant(seconds))
        .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
            EtcdErrors.isFull(failure) ? EtcdErrors.withoutChange(failure) : failure));
  }

  CompletableFuture<LeaseKeepAliveResponse> keepAlive(long lease) {
    return ask(() -> client().getLeaseClient().keepAliveOnce(lease));
  }

  CompletableFuture<LeaseTimeToLiveResponse> timeToLive(long lease) {
    return ask(
        () -> client().getLeaseClient().timeToLive(lease, LeaseOption.builder().build()));
  }

  /** Lists the keys of a lease. That this fails tells nothing of the connection: there may be too many of them. */
  CompletableFuture<LeaseTimeToLiveResponse> keysOf(long lease) {
    LeaseOption withKeys = LeaseOption.builder().withAttachedKeys().build();
    return ask(() -> client().getLeaseClient().timeToLive(lease, withKeys), false);
  }

  /** Ends a lease that nobody uses. If that fails, it ends by itself. */
  void revoke(long lease) {
    CompletionStage<LeaseRevokeResponse> asked =
        ask(() -> client().getLeaseClient().revoke(lease));
    asked.whenComplete((done, failure) -> {});
  }

  /** Watches for the end of one key, from now on; is told too when the watch begins, and begins anew. */
  Watch.Watcher watch(ByteSequence key, Watch.Listener listener) {
    WatchOption option = WatchOption.builder()
        .withCreateNotify(true)
        .withNoPut(true)
        .withRequireLeader(true)
        .build();
    return EtcdClient.inRootContext(() -> client().getWatchClient().watch(key, option, listener));
  }

  /** Asks, and says what a failure means. */
  <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> question) {
    return ask(question, true);
  }

  private <T> CompletableFuture<T> ask(Supplier<CompletableFuture<T>> question, boolean disturbs) {
    if (client.isClosed()) {
      return CompletableFuture.failedFuture(
          new StoreException(store + ": the store is closed", Reason.UNREACHABLE, true, null));
    }
    CompletionStage<T> asked;
    try {
      asked = client.ask(question);
    } catch (RuntimeException e) {
      // a client that was closed says so at once
      return CompletableFuture.failedFuture(EtcdErrors.of(store, e));
    }
    CompletableFuture<T> told = new CompletableFuture<>();
    asked.whenComplete((answer, failure) -> {
      if (failure == null) {
        answered();
        told.complete(answer);
      } else if (EtcdErrors.isLeaseGone(failure)) {
        answered();
        told.completeExceptionally(new LeaseGone(failure));
      } else {
        client.failed();
        RuntimeException meaning = EtcdErrors.of(store, failure);
        if (disturbs) {
          failed(meaning);
        }
        told.completeExceptionally(meaning);
      }
    });
    return told;
  }

  private void answered() {
    client.answered();
    if (disturbed.get() && disturbed.compareAndSet(true, false)) {
      events.restored();
    }
  }

  private void failed(RuntimeException meaning) {
    if (meaning instanceof StoreException known
        && known.reason() == Reason.UNREACHABLE
        && disturbed.compareAndSet(false, true)) {
      events.disturbed();
    }
  }

  /** The lease of a request has ended: the request was not applied. */
  static final class LeaseGone extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LeaseGone(Throwable cause) {
      super("the lease has ended", cause);
    }
  }
}
