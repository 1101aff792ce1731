// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
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
    etcd.operator.put(EtcdOperator.bytes(etcd.prefix + "lock/" + key), "theirs", 0);
  }

  private List<String> listed() {
    LockPage page = Await.value(etcd.store.list("", Optional.empty()));
    assertThat(page.next()).isEmpty();
    return page.locks().stream().map(LockInfo::name).toList();
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

  @Test
  void show_saysWhatIsWrong() {
    put("a\t" + CLAIM);
    assertThat(Await.failure(etcd.store.inspect(LockKey.of("a"))))
        .isInstanceOfSatisfying(
            StoreException.class, told -> assertThat(told.reason()).isEqualTo(Reason.DAMAGED))
        .hasMessageContaining("the key " + etcd.prefix + "lock/a " + CLAIM + " holds something");
    assertThat(listed()).isEmpty();
  }
}
