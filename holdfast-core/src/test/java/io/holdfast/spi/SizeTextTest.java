// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizeTextTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 KiB",
    "1, 1 KiB",
    "20480, 20 KiB",
    "32768, 32 KiB",
    "1048575, 1024 KiB",
    "1048576, 1.0 MiB",
    "1073741823, 1023.9 MiB",
    "1073741824, 1.0 GiB",
    "2254857830, 2.0 GiB",
    "78331211776, 72.9 GiB"
  })
  void sizes_haveTheirUnit(long bytes, String expected) {
    assertThat(SizeText.of(bytes)).isEqualTo(expected);
  }
}
