// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example in the documentation of the store in a file. */
class SqliteExampleTest {
  @Test
  void store(@TempDir Path folder) throws InterruptedException {
    Path file = folder.resolve("locks.db");
    Holdfast holdfast = Holdfast.builder().store(SqliteStore.open(file)).build();
    try (Hold hold = holdfast.lock("nightly").acquire()) {
      assertThat(hold.isValid()).isTrue();
    }
    holdfast.close();
    assertThat(file).exists();
  }
}
