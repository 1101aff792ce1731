// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import org.junit.jupiter.api.Nested;

/** The contract on the memory store. */
class MemoryContractTest extends StoreContract {
  MemoryContractTest() {
    super(MemoryUnderTest::new);
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(MemoryUnderTest::new);
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(MemoryUnderTest::new);
    }
  }
}
