// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.holdfast.measure.Contention;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * jetcd's {@code Lock}, which is the server's. Whoever asks with the same lease is the same owner, so that each thread has
 * a lease of its own.
 */
final class JetcdPeer implements Peer {
  private static final long LEASE_SECONDS = 3600;

  private final Client client;
  private final ThreadLocal<Long> lease = ThreadLocal.withInitial(this::grant);

  JetcdPeer(URI endpoint) {
    client = Client.builder().endpoints(List.of(endpoint)).build();
  }

  private long grant() {
    return client.getLeaseClient().grant(LEASE_SECONDS).join().getID();
  }

  @Override
  public Contention.Guard lock(String name) {
    ByteSequence bytes = ByteSequence.from("jetcd/" + name, StandardCharsets.UTF_8);
    return inside -> {
      ByteSequence key = client.getLockClient().lock(bytes, lease.get()).get().getKey();
      try {
        inside.run();
      } finally {
        client.getLockClient().unlock(key).get();
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
