// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerListTest {
  private static final String THREE = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
  private static final Duration TICK = Duration.ofSeconds(2);

  private static int millisToConnect(String servers, int sessionMillis) {
    return sessionMillis / new ServerList(servers, sessionMillis, TICK).size();
  }

  /** A tenth of the lease, and not a third of the session. */
  @Test
  void silentServer_isWaitedForNoLongerThanAHoldCanSpare() {
    assertThat(millisToConnect(THREE, 32_000)).isBetween(3000, 3600);
    assertThat(millisToConnect(THREE, 302_000)).isBetween(30_000, 33_000);
  }

  @Test
  void shortSession_leavesEachServerTwoSecondsOrItsPart() {
    assertThat(millisToConnect(THREE, 12_000)).isEqualTo(2000);
    assertThat(millisToConnect(THREE, 3000)).isEqualTo(1000);
  }

  @Test
  void silence_isATenthOfTheLeaseAndASecondAtLeast() {
    assertThat(ServerList.silenceMillis(32_000, TICK)).isEqualTo(3000);
    assertThat(ServerList.silenceMillis(5000, TICK)).isEqualTo(1000);
  }
}
