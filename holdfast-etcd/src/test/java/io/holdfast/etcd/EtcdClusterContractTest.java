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

/** The contract on an etcd cluster of three. */
class EtcdClusterContractTest extends StoreContract {
  EtcdClusterContractTest() {
    super(EtcdClusterUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(EtcdClusterUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(EtcdClusterUnderTest::new);
    }
  }
}
