// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

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

/** The contract on one etcd server. */
class EtcdContractTest extends StoreContract {
  EtcdContractTest() {
    super(EtcdUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(EtcdUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(EtcdUnderTest::new);
    }
  }
}
