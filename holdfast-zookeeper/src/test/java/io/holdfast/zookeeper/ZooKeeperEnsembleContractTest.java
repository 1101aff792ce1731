// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.AbandonedHoldContract;
import io.holdfast.testkit.contract.AdminContract;
import io.holdfast.testkit.contract.AsyncContract;
import io.holdfast.testkit.contract.BadInputContract;
import io.holdfast.testkit.contract.ClosingContract;
import io.holdfast.testkit.contract.DeclarationsContract;
import io.holdfast.testkit.contract.ExclusionContract;
import io.holdfast.testkit.contract.FairnessContract;
import io.holdfast.testkit.contract.HandOverContract;
import io.holdfast.testkit.contract.HoldAtLeastContract;
import io.holdfast.testkit.contract.InterruptContract;
import io.holdfast.testkit.contract.JavaLockContract;
import io.holdfast.testkit.contract.LeaseContract;
import io.holdfast.testkit.contract.ListenerContract;
import io.holdfast.testkit.contract.LossContract;
import io.holdfast.testkit.contract.NamesContract;
import io.holdfast.testkit.contract.OutageContract;
import io.holdfast.testkit.contract.ProcessContract;
import io.holdfast.testkit.contract.RestartContract;
import io.holdfast.testkit.contract.StallContract;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.contract.TokenContract;
import io.holdfast.testkit.contract.WaitingContract;
import io.holdfast.testkit.contract.WorkContract;
import org.junit.jupiter.api.Nested;

/** The contract on an ensemble of three ZooKeeper servers. */
class ZooKeeperEnsembleContractTest extends StoreContract {
  ZooKeeperEnsembleContractTest() {
    super(EnsembleUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(EnsembleUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(EnsembleUnderTest::new);
    }
  }
}
