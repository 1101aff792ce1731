// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections whose commit is done, but its answer lost: it fails as a driver does that reads from a broken connection. */
final class BreakingCommit {
  private final DataSource source;

  BreakingCommit(DataSource source) {
    this.source = source;
  }

  DataSource dataSource() {
    return proxy(
        DataSource.class,
        source,
        result -> result instanceof Connection connection
            ? proxy(Connection.class, connection, other -> other)
            : result);
  }

  @FunctionalInterface
  private interface Change {
    @Nullable
    Object of(@Nullable Object result);
  }

  private static <T> T proxy(Class<T> type, T target, Change change) {
    InvocationHandler handler = (self, method, arguments) -> {
      try {
        Object result = change.of(method.invoke(target, arguments));
        if (method.getName().equals("commit")) {
          throw new SQLException("an I/O error occurred", "08006");
        }
        return result;
      } catch (InvocationTargetException e) {
        throw e.getCause() == null ? e : e.getCause();
      }
    };
    return type.cast(Proxy.newProxyInstance(
        BreakingCommit.class.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
