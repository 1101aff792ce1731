// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is lent is given back once, whoever ends it, and whatever is going on meanwhile. */
class JdbcSessionTest {
  /** What is done while the connection is closed, by which a pool has it back. */
  @FunctionalInterface
  private interface InClose {
    void run() throws SQLException;
  }

  private final List<String> ends = new ArrayList<>();
  private InClose inClose = () -> {};

  private JdbcSession session() throws SQLException {
    Connection connection = proxy(Connection.class, method -> switch (method) {
      case "getAutoCommit" -> true;
      case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
      case "getNetworkTimeout" -> 0;
      case "abort" -> ends.add("abort");
      case "close" -> {
        ends.add("close");
        inClose.run();
        yield "";
      }
      default -> "";
    });
    JdbcDialect dialect = proxy(JdbcDialect.class, method -> JdbcDialect.Setup.NOTHING);
    return JdbcSession.open(connection, dialect, JdbcOptions.DEFAULT.tables(), 1000);
  }

  /** An answer to each method, by its name. */
  @FunctionalInterface
  private interface Answers {
    Object of(String method) throws SQLException;
  }

  private static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(Proxy.newProxyInstance(
        type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
          Object answer = answers.of(method.getName());
          return method.getReturnType() == void.class ? null : answer;
        }));
  }

  @Test
  void abortedTwice_isClosedOnce() throws Exception {
    JdbcSession session = session();
    session.abort();
    session.abort();
    assertThat(ends).containsExactly("abort", "close");
  }

  @Test
  void abortedAndGivenBack_isClosedOnce() throws Exception {
    JdbcSession session = session();
    session.abort();
    session.giveBack();
    assertThat(ends).containsExactly("abort", "close");
  }

  /** By then a pool may have lent it to somebody else. */
  @Test
  void givenBackAndAborted_isLeftAlone() throws Exception {
    JdbcSession session = session();
    session.giveBack();
    session.abort();
    assertThat(ends).containsExactly("close");
  }

  /** A pool may ask a server that is silent: who closes the store must be able to hang up on that. */
  @Test
  void abortedWhileItIsGivenBack_isHungUpOn() throws Exception {
    JdbcSession session = session();
    inClose = session::abort;
    session.giveBack();
    assertThat(ends).containsExactly("close", "abort");
  }

  @Test
  void closeThatFails_isFollowedByAnAbort() throws Exception {
    JdbcSession session = session();
    inClose = () -> {
      inClose = () -> {};
      throw new SQLException("not given back");
    };
    session.giveBack();
    session.abort();
    assertThat(ends).containsExactly("close", "abort", "close");
  }
}
