// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

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
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.contract.TokenContract;
import io.holdfast.testkit.contract.WaitingContract;
import io.holdfast.testkit.contract.WorkContract;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;

/** The whole contract, for the servers in containers. */
abstract class ContainerContract extends StoreContract {
  private final Supplier<StoreUnderTest> maker;

  ContainerContract(Supplier<StoreUnderTest> maker) {
    super(maker);
    this.maker = maker;
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(maker);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(maker);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(maker);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(maker);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(maker);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(maker);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(maker);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(maker);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(maker);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(maker);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(maker);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(maker);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(maker);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(maker);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(maker);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(maker);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(maker);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(maker);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(maker);
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(maker);
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(maker);
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(maker);
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(maker);
    }
  }
}
