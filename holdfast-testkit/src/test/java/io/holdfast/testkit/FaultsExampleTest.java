// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.log.Warns;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The examples of the documentation of faults. */
@ExtendWith(HoldfastExtension.class)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class FaultsExampleTest {
  @Test
  @Warns("hold lost: SESSION_ENDED")
  void faults(Holdfast holdfast, Faults faults, ManualClock clock) throws Exception {
    faults.on(Verb.ATTEMPT).once().loseReply(); // granted in the store, and nobody hears of it
    Hold hold = clock.whileTimePasses(() -> holdfast.lock("order:42").acquire());
    assertThat(faults.requests(Verb.ATTEMPT)).isEqualTo(2);
    faults.on(Verb.KEEP).fail(); // every renewal is refused from now on
    faults.goSilent(); // the store is gone, without a word
    faults.loseHold("order:42"); // somebody evicts the holder, who is told at once
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  @Test
  void faultyStore() throws Exception {
    FaultyStore store = new FaultyStore(new MemoryStore());
    Holdfast holdfast = Holdfast.builder().store(store).build();
    Hold hold = holdfast.lock("job").acquire();
    store.faults().on(Verb.END).fail();
    assertThatThrownBy(hold::release).isInstanceOf(StoreUnavailableException.class);
    store.faults().heal();
    holdfast.close();
  }
}
