// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast run} on a ZooKeeper ensemble of which a server stands still for longer than the lease. */
@Tag("all")
class ZooKeeperSilentServerTest {
  private static final String LEASE = "30s";

  /** In seconds; longer than the lease. */
  private static final String WORK = "40";

  @RegisterExtension
  static final LazyServer<ZooKeeperEnsemble> ENSEMBLE =
      new LazyServer<>(ZooKeeperEnsemble::ofThree);

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands =
      new Commands(processes, "zookeeper://" + ENSEMBLE.get().addresses() + "/jobs/locks");

  /** One of the two followers has the session of the command that runs all the time, unless the leader has. */
  @Test
  void followersThatFallSilent_endNoCommand() {
    String work =
        processes.script("work", "echo $$ >A.pid", "until [ -e go ]; do sleep 0.05; done");
    Job all = commands.holdfast("run", "--lease", LEASE, "all", work);
    processes.pid("A.pid");
    ZooKeeperServer leader = ENSEMBLE.get().leader();
    for (ZooKeeperServer each : ENSEMBLE.get().servers()) {
      if (each != leader) {
        each.process().pause();
        Job during = commands.holdfast("run", "--lease", LEASE, "during", "sleep", WORK);
        assertThat(during.exitCode()).as(during::toString).isZero();
        each.process().resume();
        Await.until("it serves again", each::serves, processes::everything);
      }
    }
    processes.touch("go");
    assertThat(all.exitCode()).as(all::toString).isZero();
    assertThat(all.stderr()).doesNotContain("lost");
  }
}
