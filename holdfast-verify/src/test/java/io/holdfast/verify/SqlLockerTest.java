// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlLockerTest {
  /** The driver gets its own parameters, all of them and no other. */
  @ParameterizedTest
  @CsvSource({
    "jdbc:postgresql://h/d, jdbc:postgresql://h/d",
    "jdbc:postgresql://h/d?holdfast.prefix=x, jdbc:postgresql://h/d",
    "jdbc:postgresql://h/d?holdfast.prefix=x&holdfast.schema=y, jdbc:postgresql://h/d",
    "jdbc:postgresql://h/d?user=a&holdfast.prefix=x&holdfast.schema=y, jdbc:postgresql://h/d?user=a",
    "jdbc:mysql://h/d?holdfast.prefix=x&user=a&holdfast.poll=1s&password=b, jdbc:mariadb://h/d?user=a&password=b",
  })
  void driversOwn_hasNoneOfOurs(String uri, String expected) {
    assertThat(SqlLocker.driversOwn(uri)).isEqualTo(expected);
  }
}
