// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many processes and clients that have died, one after another, on one file. */
@Tag("stores")
class SqliteManyDeathsTest extends SqliteDeathCases {
  /** Each with a lock, and killed in the middle of it. */
  @Test
  void aThousandDeadClients_leaveNothing() throws Exception {
    for (int i = 0; i < 4; i++) {
      holder("clients", "250");
    }
    assertThat(beside()).hasSizeGreaterThanOrEqualTo(4 * 250);
    endProcesses();
    try (Client client = new Client(file()).connect()) {
      Patience.until(MUCH_WORK_SECONDS, () -> beside().isEmpty());
      assertThat(Client.get(client.store.list("", Optional.empty())).locks()).isEmpty();
    }
  }
}
