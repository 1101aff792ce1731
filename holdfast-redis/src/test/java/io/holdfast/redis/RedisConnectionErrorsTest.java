// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.AcquireUnknownException;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Certificates;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is said when there is no connection: the cause in the driver's or the server's words, and what to do, on one line. */
@Tag("stores")
class RedisConnectionErrorsTest {
  private static final String PASSWORD = "gUessed-7";

  private static final String START = "; start the server, or correct host and port in the address";
  private static final String HOST =
      "; correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";
  private static final String SILENT =
      "; check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";
  private static final String SILENT_TO_TLS =
      "; check that the server speaks TLS, that it answers other clients, and that no firewall is in between";
  private static final String HUNG_UP_ON_PLAIN_TEXT =
      "; if the server wants TLS, ask for it in the address, otherwise read the server's log or correct host and port in the address";
  private static final String ANOTHER_KIND =
      "; correct host and port in the address: another kind of server answers there";
  private static final String NOT_TLS =
      "; switch TLS on in the server, or write redis:// without holdfast.tls";
  private static final String LOGIN = "; correct user and password in the address";
  private static final String SENTINELS_LOGIN =
      "; correct holdfast.sentinel-user and holdfast.sentinel-password in the address";
  private static final String RIGHTS =
      "; run \"holdfast doctor\" as an administrator, and give this user the rights that it prints";

  /** No time-out overtakes an error on a machine that stands still. */
  private static final String PATIENT = "holdfast.connect-timeout=1m";

  private static final String SHORT = "holdfast.connect-timeout=4s";
  private static final String TIMED_OUT = "Connection initialization timed out after 4 second(s)";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private static Path folder;

  private static @Nullable Certificates certificates;
  private static final int TLS_PORT = ServerProcess.freePort();

  /** Of a group of nodes each is reached at an address of its own. */
  @RegisterExtension
  static final LazyServer<RedisServer> CLOSED = new LazyServer<>(() ->
      RedisServer.with("--appendonly", "no", "--bind", "127.0.0.1", "127.0.0.2", "127.0.0.3"));

  @RegisterExtension
  static final LazyServer<RedisServer> TLS = new LazyServer<>(() -> RedisServer.with(
      "--appendonly",
      "no",
      "--tls-port",
      Integer.toString(TLS_PORT),
      "--tls-cert-file",
      certificates().file("server.pem"),
      "--tls-key-file",
      certificates().file("server.key"),
      "--tls-ca-cert-file",
      certificates().file("ca.pem"),
      "--tls-auth-clients",
      "no"));

  private final List<WrongServer> wrong = new ArrayList<>();

  /** How servers are found. */
  enum Kind {
    REDIS("redis", 2),
    SENTINEL("redis-sentinel", 2),
    CLUSTER("redis-cluster", 1),
    REDLOCK("redlock", 2);

    private final String scheme;

    /** So many the first contact opens to each server that is named. */
    private final int connections;

    Kind(String scheme, int connections) {
      this.scheme = scheme;
      this.connections = connections;
    }

    /** Returns an address; which of a group's nodes is told of is not certain. */
    String at(String user, Supplier<String> hostAndPort, String... parameters) {
      StringBuilder uri = new StringBuilder(scheme + "://" + user + hostAndPort.get());
      if (this == REDLOCK) {
        uri.append(',').append(hostAndPort.get()).append(',').append(hostAndPort.get());
      }
      if (this == SENTINEL) {
        uri.append("/mymaster");
      }
      List<String> all = new ArrayList<>(List.of(parameters));
      if (!all.contains(SHORT)) {
        all.add(PATIENT);
      }
      return uri.append(uri.indexOf("?") < 0 ? '?' : '&')
          .append(String.join("&", all))
          .toString();
    }

    String told(String words) {
      return switch (this) {
        case REDIS -> ": " + words;
        case SENTINEL -> ": no sentinel answers: " + words;
        case CLUSTER -> " (HOST:PORT): " + words;
        case REDLOCK -> ": no majority of the nodes can be used: node HOST:PORT: " + words;
      };
    }
  }

  private static synchronized Certificates certificates() {
    Certificates issued = certificates;
    if (issued == null) {
      issued = new Certificates(folder);
      issued.issue("server", "ip:127.0.0.1");
      certificates = issued;
    }
    return issued;
  }

  @AfterEach
  void hangUp() throws IOException {
    for (WrongServer each : wrong) {
      each.close();
    }
  }

  private Supplier<String> each(Supplier<WrongServer> open) {
    return () -> {
      WrongServer server = open.get();
      wrong.add(server);
      return "127.0.0.1:" + server.port();
    };
  }

  private static String closed() {
    return "127.0.0.1:" + ServerProcess.freePort();
  }

  private static Supplier<String> names(RedisServer server) {
    int[] next = {1};
    return () -> "127.0.0." + next[0]++ + ":" + server.port();
  }

  private static String alike(String message) {
    return message.replaceAll("127\\.0\\.0\\.\\d:\\d+", "HOST:PORT");
  }

  private static StoreUnavailableException failure(String uri) {
    StoreUnavailableException told = catchThrowableOfType(
        StoreUnavailableException.class,
        () -> Holdfast.builder()
            .store(uri)
            .requestTimeout(Duration.ofSeconds(20))
            .build()
            .close());
    assertThat(told).as("the first contact with %s", uri).isNotNull();
    return told;
  }

  private static String message(Throwable told) {
    return Objects.requireNonNull(told.getMessage());
  }

  /** What the first contact is told, without the address. */
  private static String told(String uri, Reason... reason) {
    StoreUnavailableException told = failure(uri);
    assertThat(told.reason()).as("%s", message(told)).isIn((Object[]) reason);
    assertThat(told).hasCauseInstanceOf(StoreException.class);
    assertThat(((StoreException) Objects.requireNonNull(told.getCause())).notApplied())
        .isTrue();
    String begin = "store " + StoreAddress.parse(uri);
    assertThat(message(told)).startsWith(begin).doesNotContain(PASSWORD);
    return alike(message(told).substring(begin.length()));
  }

  @ParameterizedTest
  @EnumSource
  void closedPort(Kind kind) {
    assertThat(told(kind.at("", RedisConnectionErrorsTest::closed), Reason.UNREACHABLE))
        .isEqualTo(kind.told("Connection refused: HOST:PORT" + START));
  }

  @ParameterizedTest
  @EnumSource
  void unknownHost(Kind kind) {
    int[] port = {1};
    String uri = kind.at("", () -> "db.holdfast.invalid:" + port[0]++);
    assertThat(told(uri, Reason.UNREACHABLE).replaceAll("db\\.holdfast\\.invalid:\\d", "HOST:PORT"))
        .isEqualTo(kind.told("unknown host db.holdfast.invalid" + HOST));
  }

  private static void login(RedisServer server) {
    server.setUser(
        "poor", List.of("on", ">" + PASSWORD, "allkeys", "allchannels", "+@all", "-evalsha"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SENTINEL")
  void wrongPassword(Kind kind) {
    String uri = kind.at("me:" + PASSWORD + "@", names(CLOSED.get()));
    assertThat(told(uri, Reason.REFUSED))
        .isEqualTo(
            kind.told("WRONGPASS invalid username-password pair or user is disabled" + LOGIN));
  }

  @Test
  void sentinelsPassword() {
    String uri = Kind.SENTINEL.at(
        "",
        names(CLOSED.get()),
        "holdfast.sentinel-user=me",
        "holdfast.sentinel-password=" + PASSWORD);
    assertThat(told(uri, Reason.REFUSED))
        .isEqualTo(
            ": the sentinel says WRONGPASS invalid username-password pair or user is disabled"
                + SENTINELS_LOGIN);
  }

  @Test
  void noPassword() {
    try (RedisServer server = RedisServer.forgetful()) {
      server.call(redis -> redis.configSet("requirepass", PASSWORD));
      String needed = "NOAUTH HELLO must be called with the client already authenticated";
      assertThat(told(Kind.REDIS.at("", names(server)), Reason.REFUSED))
          .isEqualTo(": " + needed + "; write USER:PASSWORD@ before the host in the address");
      assertThat(told(Kind.SENTINEL.at("", names(server)), Reason.REFUSED))
          .isEqualTo(": the sentinel says " + needed + SENTINELS_LOGIN);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDIS", "REDLOCK"})
  void missingRight(Kind kind) {
    login(CLOSED.get());
    String uri = kind.at("poor:" + PASSWORD + "@", names(CLOSED.get()));
    assertThat(told(uri, Reason.REFUSED))
        .isEqualTo(
            kind.told("NOPERM User poor has no permissions to run the 'evalsha' command" + RIGHTS));
  }

  @Test
  void serverThatIsNoSentinel() {
    assertThat(told(Kind.SENTINEL.at("", names(CLOSED.get())), Reason.REFUSED))
        .isEqualTo(": ERR unknown command 'SENTINEL'" + ANOTHER_KIND);
  }

  @Test
  void serverThatIsNoNodeOfACluster() {
    assertThat(told(Kind.CLUSTER.at("", names(CLOSED.get())), Reason.REFUSED))
        .isEqualTo(
            " (HOST:PORT): ERR This instance has cluster support disabled; write redis://: this server is no node of a cluster");
  }

  /** It waits for the end of a line, and answers if there is one in what begins TLS. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REDLOCK")
  void tlsTowardsPlainText(Kind kind) {
    String uri = kind.at("", names(CLOSED.get()), SHORT, "holdfast.tls=true");
    String over = kind == Kind.REDIS
        ? uri.replace("redis:", "rediss:").replace("&holdfast.tls=true", "")
        : uri;
    assertThat(told(over, Reason.UNREACHABLE, Reason.REFUSED))
        .isIn(kind.told("not an SSL/TLS record" + NOT_TLS), kind.told(TIMED_OUT + SILENT_TO_TLS));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REDLOCK")
  void plainTextTowardsTls(Kind kind) {
    assertThat(TLS.get().port()).isNotEqualTo(TLS_PORT);
    assertThat(told(kind.at("", () -> "127.0.0.1:" + TLS_PORT), Reason.UNREACHABLE))
        .isIn(
            kind.told("Connection reset" + HUNG_UP_ON_PLAIN_TEXT),
            kind.told("Connection closed prematurely" + HUNG_UP_ON_PLAIN_TEXT));
  }

  @Test
  void certificateOfAnUnknownAuthority() {
    assertThat(TLS.get().port()).isNotEqualTo(TLS_PORT);
    String uri = Kind.REDIS.at("", () -> "127.0.0.1:" + TLS_PORT).replace("redis:", "rediss:");
    assertThat(told(uri, Reason.REFUSED))
        .isEqualTo(": TLS failed: unable to find valid certification path to requested target"
            + "; name the authority that issued the server's certificate with holdfast.tls-ca");
  }

  @ParameterizedTest
  @EnumSource
  void httpServer(Kind kind) {
    assertThat(told(kind.at("", each(WrongServer::http)), Reason.UNREACHABLE))
        .isEqualTo(kind.told("Invalid first byte: 72 (H)" + ANOTHER_KIND));
  }

  @ParameterizedTest
  @EnumSource
  void mailServer(Kind kind) {
    assertThat(told(kind.at("", each(WrongServer::greeting)), Reason.UNREACHABLE))
        .isEqualTo(kind.told("Invalid first byte: 50 (2)" + ANOTHER_KIND));
  }

  @Test
  void httpServer_throughTls() {
    String uri = Kind.REDIS.at("", each(WrongServer::http)).replace("redis:", "rediss:");
    assertThat(told(uri, Reason.UNREACHABLE)).isEqualTo(": not an SSL/TLS record" + ANOTHER_KIND);
  }

  @ParameterizedTest
  @EnumSource
  void silentServer(Kind kind) {
    assertThat(told(kind.at("", each(WrongServer::silent), SHORT), Reason.UNREACHABLE))
        .isEqualTo(kind.told(TIMED_OUT + SILENT));
    // sentinels are also listened to, on a connection that the first contact does not wait for
    if (kind != Kind.SENTINEL) {
      assertThat(wrong).allSatisfy(each -> assertConnections(each, kind.connections));
    }
  }

  /** A connection for commands and one for messages are opened side by side; neither is tried again. */
  @Test
  void serverThatHangsUp_isTriedOnce() {
    String uri = Kind.REDIS.at("", each(WrongServer::hangingUp));
    assertThat(told(uri, Reason.UNREACHABLE))
        .isIn(
            ": Connection closed prematurely" + HUNG_UP_ON_PLAIN_TEXT,
            ": Connection reset" + HUNG_UP_ON_PLAIN_TEXT);
    assertConnections(wrong.get(0), Kind.REDIS.connections);
  }

  private static void assertConnections(WrongServer server, int expected) {
    // the client may be told of one before the server has counted it
    Await.until("all are counted", () -> server.connections() >= expected);
    assertThat(server.connections()).isEqualTo(expected);
  }

  /** The next connection's failure is told, while there is none. */
  @Test
  void serverThatIsGone() {
    try (RedisServer server = RedisServer.forgetful();
        Holdfast client = Holdfast.connect(server.uri())) {
      assertThat(client.lock("x").tryAcquire().orElseThrow().release()).isTrue();
      server.kill();
      String told = Await.present(
          "it is told why", () -> refusal(client).filter(each -> each.contains("refused")));
      assertThat(told)
          .isEqualTo(
              "store redis://HOST:PORT: there is no connection just now: Connection refused: HOST:PORT"
                  + START);
    }
  }

  private static Optional<String> refusal(Holdfast client) {
    try {
      throw new AssertionError("granted or busy: " + client.lock("x").tryAcquire());
    } catch (StoreUnavailableException e) {
      return Optional.of(alike(message(e)));
    } catch (AcquireUnknownException e) {
      // it was under way as the connection broke
      return Optional.empty();
    }
  }

  private static List<String> findings(String uri, Consumer<LockStore> then) {
    RecordingStart start = new RecordingStart();
    try (LockStore store = new RedisStoreFactory().open(StoreAddress.parse(uri))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      then.accept(store);
      return Await.value(store.diagnose()).stream()
          .filter(each -> each.level() == Finding.Level.PROBLEM)
          .map(each -> alike(each.subject() + ": " + each.message() + " | " + each.advice()))
          .toList();
    }
  }

  @Test
  void doctorOfANodeThatIsNotThere() {
    String uri = "redlock://127.0.0.1:" + CLOSED.get().port() + ",127.0.0.1:"
        + TLS.get().port() + "," + closed();
    assertThat(findings(uri, store -> {}))
        .contains("node HOST:PORT: it cannot be used: Connection refused: HOST:PORT" + START
            + " | start this node, or make it reachable: a majority of the nodes must answer");
  }

  @Test
  void doctorOfAServerThatIsGone() {
    try (RedisServer server = RedisServer.forgetful()) {
      Consumer<LockStore> goes = store -> {
        server.kill();
        Await.until(
            "it is tried again",
            () -> Await.value(store
                    .inspect(LockKey.of("x"))
                    .handle((found, failure) -> failure == null ? "" : message(failure)))
                .contains("refused"));
      };
      assertThat(findings(server.uri(), goes))
          .contains(
              "server: INFO was not answered: there is no connection just now: Connection refused: HOST:PORT"
                  + START + " | find out why this server does not answer");
    }
  }

  /** An application's client tells what it met, too. */
  @Test
  void givenClient() {
    RedisClient client = RedisClient.create("redis://" + closed());
    try {
      StoreUnavailableException told = catchThrowableOfType(
          StoreUnavailableException.class,
          () -> Holdfast.builder().store(RedisStore.using(client)).build().close());
      assertThat(alike(message(told)))
          .isEqualTo(
              "store redis (the application's client): Connection refused: HOST:PORT" + START);
      assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE);
    } finally {
      client.shutdown();
    }
  }
}
