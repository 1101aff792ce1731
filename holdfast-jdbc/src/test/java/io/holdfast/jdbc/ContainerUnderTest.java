// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.Occupancy;
import io.holdfast.testkit.process.ServerProcess;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * One server of a kind in a container for all tests of this JVM, emptied when none is on it. Its images flush each commit. Without
 * Docker its tests are not run, even if all stores are required.
 */
final class ContainerUnderTest implements StoreUnderTest {
  private static final Duration PULLED_AND_STARTED = Duration.ofMinutes(3);
  private static final Map<ContainerKind, Server> SERVERS = new EnumMap<>(ContainerKind.class);

  private static final Map<ContainerKind, Occupancy> TESTS = new ConcurrentHashMap<>();

  private final ContainerKind kind;
  private final Server server;
  private final Occupancy tests;

  /** A container, and the address of its database, which stays the same when it is started again. */
  private record Server(GenericContainer<?> container, String url) {
    static Server start(ContainerKind kind) {
      int port = ServerProcess.freePort();
      GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(kind.image))
          .withEnv(ContainerKind.ENVIRONMENT)
          .withExposedPorts(ContainerKind.PORT)
          .withStartupTimeout(PULLED_AND_STARTED);
      container.setPortBindings(List.of(port + ":" + ContainerKind.PORT));
      container.start();
      Server server = new Server(
          container,
          "jdbc:mysql://" + container.getHost() + ":" + port + "/" + ContainerKind.DATABASE);
      server.awaitAnswer();
      return server;
    }

    Connection connect() throws SQLException {
      return DriverManager.getConnection(url, ContainerKind.USER, ContainerKind.PASSWORD);
    }

    void empty() {
      try (Connection connection = connect();
          Statement statement = connection.createStatement()) {
        for (String table : tables(connection)) {
          statement.execute("DELETE FROM " + table);
        }
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    void awaitAnswer() {
      Await.until("the server in the container answers", () -> {
        try (Connection connection = connect()) {
          return connection.isValid(1);
        } catch (SQLException e) {
          // not there yet
          return false;
        }
      });
    }
  }

  ContainerUnderTest(ContainerKind kind) {
    this.kind = kind;
    this.server = server(kind);
    this.tests = TESTS.computeIfAbsent(kind, each -> new Occupancy(server::empty));
    tests.enter();
  }

  private static Server server(ContainerKind kind) {
    synchronized (SERVERS) {
      try {
        return SERVERS.computeIfAbsent(kind, Server::start);
      } catch (IllegalStateException | ContainerLaunchException e) {
        // no Docker, no right to use it, or no image
        return Assumptions.abort("needs Docker and " + kind.image + ": " + e.getMessage());
      }
    }
  }

  @Override
  public String version() {
    try (Connection connection = server.connect()) {
      DatabaseMetaData about = connection.getMetaData();
      return about.getDatabaseProductName() + " "
          + about.getDatabaseProductVersion().replaceFirst(" .*", "");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String provision() {
    return "container " + kind.image;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return new JdbcStoreFactory().open(StoreAddress.parse(uri()));
  }

  @Override
  public String uri() {
    return server.url() + "?user=" + ContainerKind.USER + "&password=" + ContainerKind.PASSWORD;
  }

  /** As kill -9; its files stay. */
  @Override
  public void restart() {
    GenericContainer<?> container = server.container();
    container.getDockerClient().killContainerCmd(container.getContainerId()).exec();
    container.getDockerClient().startContainerCmd(container.getContainerId()).exec();
    server.awaitAnswer();
  }

  @Override
  public void stall() {
    GenericContainer<?> container = server.container();
    container.getDockerClient().pauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void resume() {
    GenericContainer<?> container = server.container();
    container.getDockerClient().unpauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void close() {
    tests.leave();
  }

  private static List<String> tables(Connection connection) throws SQLException {
    List<String> tables = new ArrayList<>();
    try (ResultSet row = connection
        .getMetaData()
        .getTables(
            connection.getCatalog(), connection.getSchema(), "holdfast%", new String[] {"TABLE"})) {
      while (row.next()) {
        tables.add(row.getString("TABLE_NAME"));
      }
    }
    return tables;
  }
}
