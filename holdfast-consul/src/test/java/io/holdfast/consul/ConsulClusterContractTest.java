// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.contract.AbandonedHoldContract;
import io.holdfast.testkit.contract.AdminContract;
import io.holdfast.testkit.contract.AsyncContract;
import io.holdfast.testkit.contract.BadInputContract;
import io.holdfast.testkit.contract.ClosingContract;
import io.holdfast.testkit.contract.DeclarationsContract;
import io.holdfast.testkit.contract.ExclusionContract;
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

/** The contract on a Consul cluster of three. */
class ConsulClusterContractTest extends StoreContract {
  ConsulClusterContractTest() {
    super(ConsulClusterUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(ConsulClusterUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(ConsulClusterUnderTest::new);
    }
  }
}
