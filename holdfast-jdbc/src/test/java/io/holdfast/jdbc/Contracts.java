// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.holdfast.spi.LockStore;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** A program that runs the contract on every server that is a program of its own, and says how many tests were run. */
final class Contracts {
  /** Not run by the build: their names do not end like those of tests. */
  private static final List<Class<?>> ALL = List.of(
      OnPostgres.class,
      OnMaria.class,
      OnMySql.class,
      OnRedis.class,
      OnEtcd.class,
      OnConsul.class,
      OnALazyServer.class);

  private Contracts() {}

  static class OnPostgres extends StoreContract {
    OnPostgres() {
      super("on-postgres", () -> new SqlUnderTest(SqlKind.POSTGRESQL));
    }
  }

  static class OnMaria extends StoreContract {
    OnMaria() {
      super("on-mariadbd", () -> new SqlUnderTest(SqlKind.MARIADB));
    }
  }

  static class OnMySql extends StoreContract {
    OnMySql() {
      super("on-mysqld", () -> new SqlUnderTest(SqlKind.MYSQL));
    }
  }

  static class OnRedis extends StoreContract {
    OnRedis() {
      super("on-redis-server", () -> new Started(startedRedis()));
    }

    private static ServerProcess startedRedis() {
      ServerProcess redis = ServerProcess.of("redis-server");
      redis.start(List.of("--port", Integer.toString(ServerProcess.freePort())));
      redis.awaitAnswer(() -> redis.log().contains("Ready to accept connections"));
      return redis;
    }
  }

  static class OnEtcd extends StoreContract {
    OnEtcd() {
      super("on-etcd", () -> new Started(EtcdServer.with()));
    }
  }

  static class OnConsul extends StoreContract {
    OnConsul() {
      super("on-consul", () -> new Started(ConsulServer.with()));
    }
  }

  /** A class of tests that has a server of its own, and would fail without one before and after each test. */
  static class OnALazyServer {
    @RegisterExtension
    static final LazyServer<EtcdServer> SERVER = new LazyServer<>(EtcdServer::with);

    @BeforeEach
    @AfterEach
    void use() {
      System.out.println(SERVER.get().uri());
    }

    @Test
    void test() {
      use();
    }
  }

  /** A store that is not of this module: its server is started, and it declares nothing. */
  private record Started(AutoCloseable server) implements StoreUnderTest {
    @Override
    public String version() {
      return "";
    }

    @Override
    public String provision() {
      return "";
    }

    @Override
    public Set<Capability> capabilities() {
      return Set.of();
    }

    @Override
    public LockStore open() {
      throw new UnsupportedOperationException("only its server is of interest");
    }

    @Override
    public void close() {
      try {
        server.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  public static void main(String[] arguments) {
    LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
        .selectors(ALL.stream().map(each -> selectClass(each)).toList())
        .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    TestExecutionSummary summary = listener.getSummary();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    summary.printFailuresTo(out, 3);
    out.println("begun " + summary.getTestsStartedCount());
    out.println("aborted " + summary.getContainersAbortedCount());
    out.println("skipped " + summary.getContainersSkippedCount());
    out.println("failed " + summary.getTotalFailureCount());
    System.exit(0);
  }
}
