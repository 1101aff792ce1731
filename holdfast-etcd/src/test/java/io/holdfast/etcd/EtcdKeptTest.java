// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lock that is to be kept after its hold takes a look, a lease and a transaction; others may come between. */
class EtcdKeptTest {
  private static final URI SERVER =
      URI.create("http://" + EtcdUnderTest.server().endpoint());

  private final String prefix = EtcdUnderTest.nextPrefix();
  private final ByteSequence all = ByteSequence.from(prefix, StandardCharsets.UTF_8);
  private final Client operator = Client.builder().endpoints(List.of(SERVER)).build();
  private final AtomicReference<Runnable> beforeTheNextLease = new AtomicReference<>(() -> {});
  private final Client client = Client.builder()
      .endpoints(List.of(SERVER))
      .interceptor(new BeforeLeases())
      .build();
  private final Holdfast holdfast = Holdfast.builder()
      .store(EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build()))
      .build();

  private final class BeforeLeases implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      if ("LeaseGrant".equals(method.getBareMethodName())) {
        beforeTheNextLease.getAndSet(() -> {}).run();
      }
      return next.newCall(method, options);
    }
  }

  @AfterEach
  void close() {
    holdfast.close();
    client.close();
    operator.close();
  }

  private long keys() {
    GetOption option = GetOption.builder().isPrefix(true).withCountOnly(true).build();
    return Await.value(operator.getKVClient().get(all, option)).getCount();
  }

  private void deleteAll() {
    DeleteOption option = DeleteOption.builder().isPrefix(true).build();
    Await.value(operator.getKVClient().delete(all, option));
  }

  /** What an operator has taken away is not made anew: the lock is free, and the release says that it was not ours. */
  @Test
  void keyThatIsDeletedMeanwhile_isNotMadeAnew() throws Exception {
    LockOptions kept = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(60))
        .holdAtLeast(Duration.ofSeconds(50))
        .build();
    Hold hold = holdfast.lock("job", kept).acquire();
    CompletableFuture<Void> deleted = new CompletableFuture<>();
    beforeTheNextLease.set(() -> {
      deleteAll();
      deleted.complete(null);
    });
    assertThat(hold.release()).isFalse();
    assertThat(deleted).isDone();
    assertThat(keys()).isZero();
  }
}
