// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.measure.Contention;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The floor: one transaction that puts a key under a lease if it is not there, and one that deletes it; no lock. */
final class PlainEtcd implements Peer {
  private static final long LEASE_SECONDS = 3600;
  private static final ByteSequence OWNER = bytes("0123456789abcdef0123456789abcdef-1");

  private final Client client;
  private final PutOption leased;

  PlainEtcd(URI endpoint) {
    client = Client.builder().endpoints(List.of(endpoint)).build();
    long lease = client.getLeaseClient().grant(LEASE_SECONDS).join().getID();
    leased = PutOption.builder().withLeaseId(lease).build();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  @Override
  public Contention.Guard lock(String name) {
    ByteSequence key = bytes("plain/" + name);
    Cmp free = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    return inside -> {
      boolean put = client
          .getKVClient()
          .txn()
          .If(free)
          .Then(Op.put(key, OWNER, leased))
          .commit()
          .get()
          .isSucceeded();
      if (!put) {
        throw new IllegalStateException("another client has " + name);
      }
      inside.run();
      if (client.getKVClient().delete(key).get().getDeleted() != 1) {
        throw new IllegalStateException(name + " was not ours");
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
