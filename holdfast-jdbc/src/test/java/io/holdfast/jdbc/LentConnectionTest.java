// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a pool has lent goes back as it came, or not at all. */
class LentConnectionTest {
  private final List<String> calls = new ArrayList<>();

  private Connection lent() {
    return (Connection) Proxy.newProxyInstance(
        getClass().getClassLoader(),
        new Class<?>[] {Connection.class},
        (proxy, method, arguments) -> switch (method.getName()) {
          case "getNetworkTimeout" -> 7;
          case "getAutoCommit" -> false;
          case "abort" -> {
            calls.add("abort");
            throw new SQLException("the driver cannot even do that");
          }
          default -> {
            calls.add(method.getName()
                + (arguments == null ? "" : " " + arguments[arguments.length - 1]));
            yield null;
          }
        });
  }

  @Test
  void isPutBackAsItWas() throws Exception {
    String answer = LentConnection.use(lent(), 9, connection -> "answer");
    assertThat(answer).isEqualTo("answer");
    assertThat(calls)
        .containsExactly(
            "setNetworkTimeout 9",
            "setAutoCommit true",
            "setAutoCommit false",
            "setNetworkTimeout 7",
            "close");
  }

  @Test
  void afterAFailure_isEnded() {
    assertThatThrownBy(() -> LentConnection.use(lent(), 9, connection -> {
          throw new SQLException("no answer");
        }))
        .hasMessage("no answer");
    assertThat(calls)
        .as("closed although its driver fails: a pool would count it as lent for ever")
        .containsExactly("setNetworkTimeout 9", "setAutoCommit true", "abort", "close");
  }
}
