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
import io.holdfast.testkit.contract.TokenContract;
import io.holdfast.testkit.contract.WaitingContract;
import io.holdfast.testkit.contract.WorkContract;
import io.holdfast.testkit.sql.SqlKind;
import org.junit.jupiter.api.Nested;

/** The contract on MySQL, whose every commit is on disk. */
class MySqlContractTest extends StoreContract {
  MySqlContractTest() {
    super(() -> new SqlUnderTest(SqlKind.MYSQL));
  }

  @Nested
  class Exclusion extends ExclusionContract {
    Exclusion() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Names extends NamesContract {
    Names() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Token extends TokenContract {
    Token() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Lease extends LeaseContract {
    Lease() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Loss extends LossContract {
    Loss() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Waiting extends WaitingContract {
    Waiting() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Interrupt extends InterruptContract {
    Interrupt() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Async extends AsyncContract {
    Async() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class AbandonedHold extends AbandonedHoldContract {
    AbandonedHold() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Outage extends OutageContract {
    Outage() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Closing extends ClosingContract {
    Closing() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class HandOver extends HandOverContract {
    HandOver() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {
    HoldAtLeast() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Work extends WorkContract {
    Work() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class JavaLock extends JavaLockContract {
    JavaLock() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Listener extends ListenerContract {
    Listener() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Admin extends AdminContract {
    Admin() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class BadInput extends BadInputContract {
    BadInput() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Declarations extends DeclarationsContract {
    Declarations() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Fairness extends FairnessContract {
    Fairness() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Restart extends RestartContract {
    Restart() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Stall extends StallContract {
    Stall() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  @Nested
  class Processes extends ProcessContract {
    Processes() {
      super(() -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }
}
