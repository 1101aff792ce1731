// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

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

/** The contract on three independent Redis servers, without what only a store with an order can do. */
class RedlockContractTest extends StoreContract {
  RedlockContractTest() {
    super(RedlockUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(RedlockUnderTest::new);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(RedlockUnderTest::new);
    }
  }
}
