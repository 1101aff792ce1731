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

/** The contract on one Consul server. */
class ConsulContractTest extends StoreContract {
  ConsulContractTest() {
    super(ConsulUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(ConsulUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(ConsulUnderTest::new);
    }
  }
}
