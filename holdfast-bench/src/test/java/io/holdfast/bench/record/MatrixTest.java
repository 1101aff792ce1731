// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The matrix of the record, a row of it: each build of tier "all" runs the verifier on the server of one store, with all faults that it
 * can be given. Which one, and who is hit when, is the seed's; {@code -Dholdfast.matrix=SEED} does the same once more.
 */
@Tag("all")
class MatrixTest {
  private static final long SECONDS = 20;

  /** A request may take a third of it, which is to be enough on a machine that other tests share. */
  private static final Duration LEASE = Duration.ofSeconds(6);

  @Test
  void oneStore_underAllItsFaults_breaksNothing() throws Exception {
    long seed = Long.getLong("holdfast.matrix", System.currentTimeMillis() / 1000);
    List<Map.Entry<String, Supplier<StartedServer>>> all =
        List.copyOf(Servers.all().entrySet());
    var chosen = all.get(Math.floorMod(seed, all.size()));
    System.out.println("matrix: " + chosen.getKey() + "; again: -Dholdfast.matrix=" + seed);
    Survival survival = FaultRuns.run(chosen.getKey(), chosen.getValue(), seed, SECONDS, LEASE);
    System.out.print(Survival.HEAD + survival.row());
    assertThat(survival.verdict().violations()).as(survival.row()).isEmpty();
    assertThat(survival.verdict().counts().get("grants")).as(survival.row()).isPositive();
    // one of several faults may not have had its turn in so short a time; all else must have been looked at
    assertThat(survival.verdict().why()).as(survival.row()).matches("|no .* took place; .*");
  }
}
