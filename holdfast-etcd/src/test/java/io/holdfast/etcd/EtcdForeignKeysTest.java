// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Keys under the prefix that are not ours: a list leaves them out, and what is asked of such a lock alone says what is wrong. */
@Tag("stores")
class EtcdForeignKeysTest {
  private static final String CLAIM = "0123456789abcdef0123456789abcdef-7";

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private void put(String key) {
    put(key, "theirs");
  }

  private void put(String key, String value) {
    etcd.operator.put(EtcdOperator.bytes(etcd.prefix + "lock/" + key), value, 0);
  }

  private List<LockInfo> locks() {
    LockPage page = Await.value(etcd.store.list("", Optional.empty()));
    assertThat(page.next()).isEmpty();
    return page.locks();
  }

  private List<String> listed() {
    return locks().stream().map(LockInfo::name).toList();
  }

  @Test
  void list_leavesThemOut() {
    etcd.ask(etcd.claim(), Mode.QUEUE);
    Await.until("it holds", () -> listed().equals(List.of("job")));
    put("a\t" + CLAIM);
    put("b\tsomething else");
    put("c\u001b[31m\t" + CLAIM);
    put("d");
    put("\t" + CLAIM);
    put("e\tf\t" + CLAIM);
    String ours = etcd.operator.keys().get(0).getValue().toString(StandardCharsets.UTF_8);
    byte[] noUtf8 = (etcd.prefix + "lock/g\u00ff\t" + CLAIM).getBytes(StandardCharsets.ISO_8859_1);
    etcd.operator.put(ByteSequence.from(noUtf8), ours, 0);
    assertThat(listed()).containsExactly("job");
  }

  /** More of them than a page has: the locks behind them are listed all the same. */
  @Test
  void manyOfThem_hideNoLock() {
    etcd.operator.putMany("lock/a", 1200, 0);
    etcd.ask(etcd.claim(), Mode.QUEUE);
    Await.until("it is listed", () -> listed().equals(List.of("job")));
  }

  private void assertShowSaysWhatIsWrong(String name) {
    assertThat(Await.failure(etcd.store.inspect(LockKey.of(name))))
        .isInstanceOfSatisfying(
            StoreException.class, told -> assertThat(told.reason()).isEqualTo(Reason.DAMAGED))
        .hasMessageContaining(
            "the key " + etcd.prefix + "lock/" + name + " " + CLAIM + " holds something");
  }

  @Test
  void show_saysWhatIsWrong() {
    put("a\t" + CLAIM);
    assertShowSaysWhatIsWrong("a");
    assertThat(listed()).isEmpty();
  }

  /** What a version to come has written is a lock's: it is listed as taken, and not touched. */
  @Test
  void valueOfAnotherFormat() {
    etcd.ask(etcd.claim(), Mode.QUEUE);
    Await.until("it holds", () -> listed().equals(List.of("job")));
    put("newer\t" + CLAIM, "2\nCLAIM\nsomething of next year's");
    assertThat(listed()).containsExactlyInAnyOrder("job", "newer");
    LockInfo newer =
        locks().stream().filter(each -> each.name().equals("newer")).findFirst().orElseThrow();
    assertThat(newer.isTaken()).isTrue();
    assertThat(newer.holder()).contains(new Holder("?", "?", 0, "?", ""));
    assertThat(newer.waiters()).hasToString("unknown");
    assertShowSaysWhatIsWrong("newer");
    boolean evicted = Await.value(etcd.store.evict(LockKey.of("newer"), newer.token() >> 8));
    assertThat(evicted).isFalse();
    assertThat(listed()).contains("newer");
  }
}
