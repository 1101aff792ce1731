// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections without a database, as a test makes them. */
@SuppressWarnings("ReferenceEquality") // a connection is itself
final class StubSource implements JdbcSource {
  /** Opens a connection; asked for the first time, it gets 1. */
  @FunctionalInterface
  interface Opener {
    Connection open(int time) throws SQLException;
  }

  /** An answer to each method, by its name. */
  @FunctionalInterface
  interface Answers {
    Object of(String method) throws SQLException;
  }

  final AtomicInteger asked = new AtomicInteger();
  private final Opener opener;

  StubSource(Opener opener) {
    this.opener = opener;
  }

  static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(Proxy.newProxyInstance(
        type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
          if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
              case "equals" -> proxy == arguments[0];
              case "hashCode" -> System.identityHashCode(proxy);
              default -> type.getSimpleName();
            };
          }
          return answers.of(method.getName());
        }));
  }

  /** A connection that can be set up, and says that it is closed. */
  static Connection connection(Runnable onClose) {
    return proxy(Connection.class, method -> switch (method) {
      case "getAutoCommit" -> true;
      case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
      case "getNetworkTimeout" -> 0;
      case "close" -> {
        onClose.run();
        yield "";
      }
      default -> "";
    });
  }

  @Override
  public Connection connect() throws SQLException {
    return opener.open(asked.incrementAndGet());
  }

  @Override
  public Connection connectAside() {
    throw new AssertionError("nobody waits");
  }

  @Override
  public boolean sparesOne() {
    return false;
  }

  @Override
  public boolean isOurs() {
    return true;
  }

  @Override
  public void close() {
    // each connection is closed by who has it
  }
}
