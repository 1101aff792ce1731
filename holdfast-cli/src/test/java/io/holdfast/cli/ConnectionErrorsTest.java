// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.ConnectionAdvice;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.WrongServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the command prints when there is no connection, in processes of its own: one line, with the cause and what to do. The
 * lines are in {@code connection-errors.txt}. What real servers refuse (a login, a right, TLS on one side) is compared word by
 * word in the modules' tests.
 */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ConnectionErrorsTest {
  private static final String PASSWORD = "gUessed-7";
  private static final String UNKNOWN = "db.holdfast.invalid";
  private static final String NO_CONTACT =
      "the store did not answer the first contact within 5 s; " + ConnectionAdvice.SILENT;

  @RegisterExtension
  final Processes processes = new Processes();

  private final List<WrongServer> servers = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (WrongServer each : servers) {
      each.close();
    }
  }

  /** What the address leads to. */
  enum Trouble {
    CLOSED_PORT,
    UNKNOWN_HOST,
    SILENT,
    HANGS_UP,
    HTTP,
    MAIL;

    private Optional<WrongServer> server() {
      return switch (this) {
        case CLOSED_PORT, UNKNOWN_HOST -> Optional.empty();
        case SILENT -> Optional.of(WrongServer.silent());
        case HANGS_UP -> Optional.of(WrongServer.hangingUp());
        case HTTP -> Optional.of(WrongServer.http());
        case MAIL -> Optional.of(WrongServer.greeting());
      };
    }
  }

  /** A line of the file: an address in which HOST stands for host and port, what is there, and what is printed. */
  record Row(String address, Trouble trouble, String said) {
    static Row of(String line) {
      String[] cells = line.split(" \\| ", 3);
      return new Row(
          cells[0], Trouble.valueOf(cells[1].toUpperCase(Locale.ROOT).replace(' ', '_')), cells[2]);
    }

    @Override
    public String toString() {
      return address + " " + trouble;
    }
  }

  static List<Row> rows() throws IOException {
    try (InputStream file = Objects.requireNonNull(
        ConnectionErrorsTest.class.getResourceAsStream("connection-errors.txt"))) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .map(Row::of)
          .toList();
    }
  }

  static Stream<Row> closedPorts() throws IOException {
    return rows().stream().filter(row -> row.trouble == Trouble.CLOSED_PORT);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void run_printsTheCauseAndWhatToDo(Row row) {
    // a driver that knows the cause may take its time to be loaded
    List<String> patient =
        row.trouble == Trouble.SILENT ? List.of() : List.of("-Dio.holdfast.cli.patience=60");
    Job job = processes.start(
        store(row), processes.holdfastLine(patient, "run", "-n", "lock", "touch", "ran"));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(Exit.UNAVAILABLE);
    assertThat(alike(job.stderr())).matches(said -> isSaid(row, said));
    assertThat(job.stdout()).isEmpty();
    assertThat(processes.file("ran")).doesNotExist();
  }

  /** Drivers have limits of their own for a silent server, which a machine that stands still may reach after the whole time. */
  private static boolean isSaid(Row row, String printed) {
    return printed.equals("holdfast: store " + row.said + "\n")
        || (row.trouble == Trouble.SILENT && printed.endsWith(": " + NO_CONTACT + "\n"));
  }

  /** The commands that look say the same. */
  @ParameterizedTest
  @MethodSource("closedPorts")
  void lsAndDoctor_printTheSame(Row row) {
    Map<String, String> store = store(row);
    Job list = processes.holdfast(store, "ls");
    assertThat(list.exitCode()).as(list::toString).isEqualTo(Exit.UNAVAILABLE);
    assertThat(alike(list.stderr())).isEqualTo("holdfast: store " + row.said + "\n");
    Job doctor = processes.holdfast(store, "doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
    assertThat(alike(doctor.stdout())).endsWith("problem  connection: store " + row.said + "\n");
  }

  private Map<String, String> store(Row row) {
    String uri = row.address;
    // each of several servers is one of its own
    while (uri.contains("HOST")) {
      uri = uri.replaceFirst("HOST", hostAndPort(row.trouble));
    }
    return Map.of("HOLDFAST_STORE", uri.replace("PASSWORD", PASSWORD));
  }

  private String hostAndPort(Trouble trouble) {
    Optional<WrongServer> server = trouble.server();
    server.ifPresent(servers::add);
    String host = trouble == Trouble.UNKNOWN_HOST ? UNKNOWN : "127.0.0.1";
    return host + ":" + server.map(WrongServer::port).orElseGet(ServerProcess::freePort);
  }

  private static String alike(String printed) {
    assertThat(printed).doesNotContain(PASSWORD);
    return printed
        .replaceAll("(127\\.0\\.0\\.1|db\\.holdfast\\.invalid):\\d+", "$1:PORT")
        .replaceAll("size \\(\\d+\\)", "size (N)");
  }
}
