// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.jdbc.postgres.ListeningSockets;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * What only PostgreSQL's own driver can do. It is called by reflection: the driver need not be there, and its classes are
 * annotated with those of a library that is not there either.
 */
final class Pgjdbc {
  private static final Optional<Pgjdbc> DRIVER = find();

  private final Class<?> type;
  private final Method pid;
  private final Method threshold;
  private final Method setThreshold;
  private final Method messages;
  private final Method channel;
  private final Method payload;

  /** A message that came. */
  record Message(String channel, String payload) {}

  private Pgjdbc(Class<?> type, Class<?> message) throws NoSuchMethodException {
    this.type = type;
    pid = type.getMethod("getBackendPID");
    threshold = type.getMethod("getPrepareThreshold");
    setThreshold = type.getMethod("setPrepareThreshold", int.class);
    messages = type.getMethod("getNotifications", int.class);
    channel = message.getMethod("getName");
    payload = message.getMethod("getParameter");
  }

  private static Optional<Pgjdbc> find() {
    ClassLoader loader = Pgjdbc.class.getClassLoader();
    try {
      return Optional.of(new Pgjdbc(
          Class.forName("org.postgresql.PGConnection", false, loader),
          Class.forName("org.postgresql.PGNotification", false, loader)));
    } catch (ClassNotFoundException | NoSuchMethodException e) {
      // another driver, an old one, or one that only the application's class loader knows: nothing of this is used
      return Optional.empty();
    }
  }

  /**
   * What the driver is told for a connection that listens: nothing, if it is another driver's, if the address has sockets of
   * its own, or if the driver cannot find ours.
   */
  static Properties listening(String url) {
    Properties properties = new Properties();
    if (url.startsWith("jdbc:postgresql:")
        && !url.contains("socketFactory=")
        && DRIVER.map(Pgjdbc::findsOurs).orElse(false)) {
      properties.setProperty("socketFactory", ListeningSockets.class.getName());
    }
    return properties;
  }

  private boolean findsOurs() {
    try {
      return Class.forName(ListeningSockets.class.getName(), false, type.getClassLoader())
          == ListeningSockets.class;
    } catch (ClassNotFoundException e) {
      // the application's class loader has us, and a parent of it the driver: messages take a millisecond longer
      return false;
    }
  }

  /** Says whether a connection is that driver's, perhaps within a pool's. */
  static boolean isBehind(Connection connection) throws SQLException {
    return DRIVER.isPresent() && connection.isWrapperFor(DRIVER.get().type);
  }

  /**
   * The number of the server's process, as the server gave it when the connection was made. What a proxy gives instead is
   * made up.
   */
  static int greetedPid(Connection connection) throws SQLException {
    Pgjdbc driver = DRIVER.orElseThrow();
    return number(driver.call(driver.pid, connection));
  }

  /** After how many uses a statement is prepared at the server; zero for never. */
  static int prepareThreshold(Connection connection) throws SQLException {
    Pgjdbc driver = DRIVER.orElseThrow();
    return number(driver.call(driver.threshold, connection));
  }

  static void prepareThreshold(Connection connection, int uses) throws SQLException {
    Pgjdbc driver = DRIVER.orElseThrow();
    driver.call(driver.setThreshold, connection, uses);
  }

  /**
   * Lets each statement be parsed for its transaction, and leaves nothing behind at the server.
   *
   * @return puts the connection back as it was
   */
  static JdbcSession.Step prepareNothing(Connection connection) throws SQLException {
    int before = prepareThreshold(connection);
    prepareThreshold(connection, 0);
    return () -> prepareThreshold(connection, before);
  }

  /** Waits for messages, for so long at most; none may come. */
  static List<Message> await(Connection connection, int millis) throws SQLException {
    Pgjdbc driver = DRIVER.orElseThrow();
    List<Message> came = new ArrayList<>();
    Object[] all = (Object[]) driver.call(driver.messages, connection, millis);
    if (all != null) {
      for (Object each : all) {
        came.add(new Message(
            String.valueOf(invoke(driver.channel, each)),
            String.valueOf(invoke(driver.payload, each))));
      }
    }
    return came;
  }

  private static int number(@Nullable Object answer) {
    return (Integer) Objects.requireNonNull(answer, "answer");
  }

  private @Nullable Object call(Method method, Connection connection, Object... arguments)
      throws SQLException {
    return invoke(method, connection.unwrap(type), arguments);
  }

  private static @Nullable Object invoke(Method method, Object on, Object... arguments)
      throws SQLException {
    try {
      return method.invoke(on, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SQLException failure) {
        throw failure;
      }
      throw new SQLException(method.getName() + " failed in the driver", e.getCause());
    } catch (IllegalAccessException e) {
      throw new SQLException("the driver's " + method.getName() + " cannot be called", e);
    }
  }
}
