// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What locks cost is what the table says: no clock is looked at. */
@Tag("stores")
class GuardTest {
  private static final String TABLE = """
      Words.

      | store | counted | 10 cycles | a wait |
      |---|---|---:|---:|
      | Redis | scripts | 20 | 3 |
      | Redis | commands | 80 | 29 |

      More words.

      | what | bytes |
      |---|---:|
      | memory: a cycle | 1920 |
      | memory: a reentry | 0 |
      """;

  /** A request more, and a request less, is to be seen in the table that is checked in. */
  @Test
  void whatIsAskedFor_isWhatTheTableSays() throws Exception {
    assertThat(Guard.read(Path.of("..")).complaints(Guard.measure())).isEmpty();
  }

  /** What is written is what is read. */
  @Test
  void table_isReadAsItWasWritten() {
    GuardTable table = GuardTable.parse(TABLE);
    assertThat(table.rows())
        .containsEntry("Redis, commands", Map.of("10 cycles", 80L, "a wait", 29L))
        .containsEntry("memory: a cycle", Map.of("bytes", 1920L))
        .hasSize(4);
    assertThat(GuardTable.parse(table.text())).isEqualTo(table);
  }

  /** More is a fault, and so is less: it would be lost again. */
  @Test
  void complaints_sayWhatToDo() {
    assertThat(complaints(TABLE)).isEmpty();
    assertThat(complaints(TABLE.replace("| 20 |", "| 30 |")))
        .singleElement()
        .asString()
        .startsWith("Redis, scripts: 10 cycles: 30, and the table has 20. That is more")
        .contains("dev/guard --write");
    assertThat(complaints(TABLE.replace("| 20 |", "| 10 |")))
        .singleElement()
        .asString()
        .contains("and the table has 20. That is less", "dev/guard --write");
    assertThat(complaints(TABLE.replace("| scripts |", "| calls |")))
        .singleElement()
        .asString()
        .startsWith("Redis, calls: the table has []");
  }

  /** A store whose server is not here says nothing. */
  @Test
  void complaints_areOfWhatWasMeasured() {
    assertThat(complaints("")).isEmpty();
  }

  /** Bytes vary by a little, and by less than an object where there are none. */
  @Test
  void bytes_mayDifferByALittle() {
    assertThat(complaints(TABLE.replace("1920", "2016"))).isEmpty();
    assertThat(complaints(TABLE.replace("1920", "2017"))).hasSize(1);
    assertThat(complaints(TABLE.replace("1920", "1824"))).isEmpty();
    assertThat(complaints(TABLE.replace("1920", "1823"))).hasSize(1);
    assertThat(complaints(TABLE.replace("| 0 |", "| 8 |"))).isEmpty();
    assertThat(complaints(TABLE.replace("| 0 |", "| 16 |"))).hasSize(1);
  }

  private static List<String> complaints(String measured) {
    return GuardTable.parse(TABLE).complaints(GuardTable.parse(measured));
  }
}
