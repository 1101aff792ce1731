// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.postgres.ListeningSockets;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The connection that listens has sockets that do not make a message wait, and none of the messages is lost by that. */
@Tag("fast")
@Tag("stores")
class PgjdbcTest {
  @Test
  void listening_tellsTheDriverOfOurSockets() {
    assertThat(Pgjdbc.listening("jdbc:postgresql://127.0.0.1/x"))
        .containsOnly(Map.entry("socketFactory", ListeningSockets.class.getName()));
  }

  @Test
  void listening_leavesOthersAlone() {
    assertThat(Pgjdbc.listening("jdbc:postgresql://127.0.0.1/x?socketFactory=a.B"))
        .isEmpty();
    assertThat(Pgjdbc.listening("jdbc:mariadb://127.0.0.1/x")).isEmpty();
  }

  @Test
  void await_hasEveryMessage() throws Exception {
    SqlServer server = SqlKind.POSTGRESQL.shared();
    String url = server.storeUri();
    try (Connection listener = DriverManager.getConnection(url, Pgjdbc.listening(url));
        Connection speaker = DriverManager.getConnection(url);
        Statement says = speaker.createStatement()) {
      PostgresProbe.execute(listener, "LISTEN pgjdbc_test");
      List<String> came = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        says.execute("SELECT pg_notify('pgjdbc_test', '" + i + "')");
      }
      while (came.size() < 100) {
        List<Pgjdbc.Message> more = Pgjdbc.await(listener, 10_000);
        assertThat(more).isNotEmpty();
        more.forEach(each -> came.add(each.payload()));
      }
      assertThat(came)
          .isEqualTo(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
    }
  }
}
