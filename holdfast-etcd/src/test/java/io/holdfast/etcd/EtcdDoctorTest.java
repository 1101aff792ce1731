// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockInfo;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdCluster;
import io.holdfast.testkit.etcd.EtcdServer;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@code doctor} finds, and what it finds in clusters that are not well. */
@Tag("stores")
class EtcdDoctorTest {
  private static <T> T started(String uri, Function<LockStore, T> use) {
    RecordingStart engine = new RecordingStart();
    LockStore store = EtcdStore.at(StoreAddress.parse(uri));
    store.start(engine.runtime(), engine);
    try {
      return use.apply(store);
    } finally {
      store.close();
    }
  }

  private static List<Finding> look(String uri) {
    return started(uri, store -> Await.value(store.diagnose()));
  }

  private static void assertFound(
      List<Finding> findings, Level level, String subject, String words) {
    assertThat(findings)
        .anySatisfy(each -> {
          assertThat(each.subject()).isEqualTo(subject);
          assertThat(each.level()).isEqualTo(level);
          assertThat(each.message()).contains(words);
        })
        // whatever is not well comes with what to do
        .allMatch(each -> each.level() == Level.OK || !each.advice().isEmpty());
  }

  @Test
  void oneServer() {
    List<Finding> findings = look(EtcdUnderTest.server().uri());
    assertFound(findings, Level.OK, "reach", "a majority answers, in ");
    assertFound(findings, Level.OK, "rights", "may write what begins with holdfast/");
    assertFound(findings, Level.WARNING, "members", "1");
    assertFound(findings, Level.OK, "member m0", ", the leader, ");
    assertThat(findings)
        .anyMatch(each -> each.message().matches("etcd .*, the leader, [\\d.]+ [KMG]iB"));
    assertFound(findings, Level.OK, "alarms", "none");
    assertFound(findings, Level.WARNING, "encryption", "none");
    String version = EtcdUnderTest.server().version().substring("etcd ".length());
    if (EtcdDoctor.endsLeasesEarly(version)) {
      assertFound(findings, Level.WARNING, "member m0", "may end leases early");
    }
  }

  /** All members are seen; one that died is named, and the locks go on. */
  @Test
  void memberThatDied_isNamed() {
    try (EtcdCluster cluster = new EtcdCluster()) {
      List<Finding> well = look(cluster.uri());
      assertFound(well, Level.OK, "members", "3");
      assertFound(well, Level.OK, "member m1", "etcd ");
      assertFound(well, Level.OK, "member m3", "etcd ");
      assertThat(well)
          .filteredOn(each -> each.message().contains(", the leader, "))
          .hasSize(1);
      cluster.members().get(1).kill();
      cluster.leader();
      List<Finding> findings = look(cluster.uri());
      assertFound(findings, Level.OK, "reach", "a majority answers");
      assertFound(findings, Level.PROBLEM, "member m2", "does not answer");
      assertFound(findings, Level.OK, "member m1", "etcd ");
      minority(cluster);
    }
  }

  /** Without a majority there is no lock, and the one that is left says that it knows no leader. */
  private static void minority(EtcdCluster cluster) {
    cluster.members().get(2).kill();
    EtcdServer left = cluster.members().get(0);
    Await.until(
        "it has noticed", () -> !left.call("/v3/maintenance/status", "{}").contains("\"leader\""));
    List<Finding> findings = look(left.uri());
    assertFound(findings, Level.PROBLEM, "reach", "no majority answers");
    assertFound(findings, Level.WARNING, "rights", "could not be seen");
    assertThat(findings).noneMatch(each -> each.message().contains(", the leader, "));
  }

  /** A database that is full raises an alarm at its member: nothing can be written until somebody sees to it. */
  @Test
  void alarm_isTold() {
    try (EtcdServer full = EtcdServer.with("--quota-backend-bytes=65536")) {
      full.fill(40_000);
      List<Finding> findings = look(full.uri());
      assertFound(findings, Level.PROBLEM, "alarm", "NOSPACE at member ");
    }
  }

  /** Who may only look is told which right is missing; who may not see the members, that only doctor needs that. */
  @Test
  void rightsThatAreMissing_areNamed() {
    try (EtcdServer server = EtcdServer.with()) {
      EtcdUsers.make(server);
      List<Finding> guest = look(EtcdUsers.uri(server, "guest", "guest"));
      assertFound(guest, Level.OK, "reach", "a majority answers");
      assertFound(guest, Level.PROBLEM, "rights", "may not write what begins with holdfast/");
      List<Finding> worker = look(EtcdUsers.uri(server, "worker", "worker"));
      assertFound(worker, Level.OK, "rights", "may write what begins with holdfast/");
      assertThat(worker).noneMatch(each -> each.level() == Level.PROBLEM);
      List<Finding> root = look(EtcdUsers.uri(server, "root", "root"));
      assertThat(root).noneMatch(each -> each.message().contains("could not be seen"));
      // nothing was written by looking
      List<LockInfo> locks = started(
          EtcdUsers.uri(server, "root", "root"),
          store -> Await.value(store.list("", Optional.empty())).locks());
      assertThat(locks).isEmpty();
    }
  }
}
