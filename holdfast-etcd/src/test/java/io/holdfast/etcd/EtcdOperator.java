// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** Sees and changes what is on the server of these tests, past the stores under test, as an operator does. */
final class EtcdOperator implements AutoCloseable {
  /** The most that a server takes in one transaction unless it is told otherwise is 128. */
  private static final int AT_ONCE = 100;

  final Client client = EtcdUnderTest.client().build();
  private final String prefix;

  /** Sees what is under this prefix. */
  EtcdOperator(String prefix) {
    this.prefix = prefix;
  }

  static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  /** Who has locks or waits for them, in the order in which the keys were made. */
  List<KeyValue> keys() {
    GetOption option = GetOption.builder()
        .isPrefix(true)
        .withSortField(GetOption.SortTarget.CREATE)
        .withSortOrder(GetOption.SortOrder.ASCEND)
        .build();
    return Await.value(client.getKVClient().get(bytes(prefix + "lock/"), option))
        .getKvs();
  }

  /** All keys, also those that are no claim's, and how far the server's revisions have come. */
  GetResponse all() {
    GetOption option = GetOption.builder().isPrefix(true).build();
    return Await.value(client.getKVClient().get(bytes(prefix), option));
  }

  /** Puts a key under a lease, or under none if that is 0. */
  void put(ByteSequence key, String value, long lease) {
    PutOption option = PutOption.builder().withLeaseId(lease).build();
    Await.value(client.getKVClient().put(key, bytes(value), option));
  }

  /** Puts many keys that are no claim's under a lease. */
  void putMany(String beginning, int many, long lease) {
    PutOption option = PutOption.builder().withLeaseId(lease).build();
    for (int i = 0; i < many; i += AT_ONCE) {
      Op[] puts = IntStream.range(i, Math.min(many, i + AT_ONCE))
          .mapToObj(each -> Op.put(bytes(prefix + beginning + each), ByteSequence.EMPTY, option))
          .toArray(Op[]::new);
      Await.value(client.getKVClient().txn().Then(puts).commit());
    }
  }

  void delete(ByteSequence key) {
    Await.value(client.getKVClient().delete(key));
  }

  void deleteAll() {
    DeleteOption option = DeleteOption.builder().isPrefix(true).build();
    Await.value(client.getKVClient().delete(bytes(prefix), option));
  }

  /** Ends a lease, and the keys under it. */
  void revoke(long lease) {
    Await.value(client.getLeaseClient().revoke(lease));
  }

  /** In whole seconds. */
  long timeLeft(long lease) {
    return Await.value(client.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT))
        .getTTL();
  }

  /** Has the server forget all revisions before the present one. */
  void compact() {
    Await.value(client.getKVClient().compact(all().getHeader().getRevision()));
  }

  @Override
  public void close() {
    client.close();
  }
}
