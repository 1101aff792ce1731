// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** docs/troubleshooting.md has each message that a user can meet, and no other. */
class TroubleshootingPageTest {
  private static final Path ROOT = Path.of("..");
  private static final Path PAGE = ROOT.resolve("docs/troubleshooting.md");

  /** The words in capitals that stand for something on the page. A longer one is before one that it begins with. */
  private static final String PLACEHOLDERS = Stream.of(
          "ACTION",
          "ADDRESS",
          "ARTIFACT",
          "CAUSE",
          "CODE",
          "COMMAND",
          "DATABASE",
          "FILE",
          "FOLDER",
          "GUARANTEE",
          "HOLDER",
          "HOST",
          "ID",
          "KEY",
          "KIND",
          "LEVEL",
          "LIST",
          "NAME",
          "N",
          "OPTION",
          "PARAMETER",
          "PORT",
          "REASON",
          "RESOURCE",
          "ROOT",
          "RULE",
          "SCHEME",
          "TABLE",
          "THREAD",
          "TIME",
          "USER",
          "VALUE",
          "VARIABLE",
          "VERSION",
          "WHAT",
          "WORD")
      .collect(Collectors.joining("|", "(?<![A-Z_])(?:", ")(?![A-Za-z_])"));

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern OPEN = Pattern.compile(PLACEHOLDERS + "|\\.\\.\\.");
  private static final Pattern CLOSED_TOO = Pattern.compile(OPEN + "|;");
  private static final Pattern BLANKS = Pattern.compile("\\s+");
  private static final Pattern EDGES = Pattern.compile("^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$");

  /** A shorter piece of a message, such as "not found", does not tell which message it is. */
  private static final int TELLING = 20;

  /** A row with fewer letters of its own may be found by chance. */
  private static final int RECOGNISABLE = 12;

  private static final List<String> MODULES =
      List.of("core", "jdbc", "redis", "zookeeper", "etcd", "consul", "cli");

  private static final String EXCEPTIONS = "StoreException|StoreUnavailableException"
      + "|ConfigurationException|AcquireUnknownException|AcquireTimeoutException|HoldLostException"
      + "|StaleTokenException|WriteUnknownException";

  /**
   * Where a message begins that a user can meet: exceptions, what a code of a driver or a server means, what collects several
   * problems, and what is printed or logged.
   */
  private static final Pattern PLACE = Pattern.compile("\\bnew (?:" + EXCEPTIONS + ")\\("
      + "|\\bnew CliException\\(\\s*[\\w.]+,"
      + "|\\bnew Meaning\\(\\s*\"\\d+\",(?:\\s*[\\w.]+,)+"
      + "|\\bfailed\\((?=\\s*(?:store|found)\\b)"
      + "|\\b(?:wrong|problems\\.add|messages\\.error)\\("
      + "|\\.(?:log|thrown)\\(\\s*[^,\"]*Level\\.(?:WARNING|ERROR)[^,]*,");

  /** The texts of these are causes and advice. */
  private static final Pattern CONNECTIONS =
      Pattern.compile("/(?:ConnectionTrouble|ConsulTrouble|ConnectionAdvice|ConsulAdvice)\\.java$");

  /** A text that others are compared with. */
  private static final Pattern PATTERN = Pattern.compile("[\\\\^$\\[|]");

  /** In the core also what the caller did wrong; in other modules most of these are for the engine's eyes. */
  private static final Pattern CORE_PLACE = Pattern.compile(
      PLACE
          + "|\\bnew (?:IllegalStateException|IllegalMonitorStateException|IllegalArgumentException)\\(");

  /** Some exceptions make their messages themselves. */
  private static final Pattern OWN_PLACE = Pattern.compile("\\bsuper\\(");

  private static final String COMPARED =
      "what a driver or server says is compared with it; the cause is told with other words";
  private static final String BUG = "only a bug of Holdfast, or of a store's module, brings it";

  /** Messages that the page does not need, by their words, and why. */
  private static final Map<String, String> EXCUSED = Map.ofEntries(
      Map.entry("settled twice", BUG),
      Map.entry("maxChars must be at least", BUG),
      Map.entry("revision out of range", BUG),
      Map.entry("out of range: revision", BUG),
      Map.entry("no claim id", BUG),
      Map.entry("times by one thread", BUG),
      Map.entry("known must not be negative, but is", BUG),
      Map.entry("Cannot connect to a Redis Sentinel", COMPARED),
      Map.entry("Cannot provide redisAddress using sentinel", COMPARED),
      Map.entry("Missing node registration", COMPARED),
      Map.entry("Received fatal alert", COMPARED),
      Map.entry("Unable to resolve host", COMPARED),
      Map.entry("connection timed out", COMPARED),
      Map.entry("is not executed because it is not in the whitelist", COMPARED),
      Map.entry("unrecognized SSL message", COMPARED));

  @TempDir
  Path folder;

  /** A user who searches the page for a message finds a row. */
  @Test
  void everyMessage_hasARow() throws IOException {
    Map<String, String> printed = printed();
    assertThat(printed).hasSizeGreaterThan(150);
    assertThat(EXCUSED.keySet())
        .as("messages that are excused and that are there; take away those that are gone")
        .isSubsetOf(printed.keySet());
    String page = normal(String.join("\n", messages()));
    List<String> missing = printed.entrySet().stream()
        .filter(each -> !EXCUSED.containsKey(each.getKey()) && !page.contains(each.getKey()))
        .map(each -> each.getValue() + ": \"" + each.getKey() + "\"")
        .toList();
    assertThat(missing)
        .as(
            "messages without a row in %s: add each, with the words that are printed up to the first semicolon, to the table"
                + " where a user looks for it, and say what to do; or excuse it in this test",
            PAGE)
        .isEmpty();
  }

  /** A row whose message was changed or taken away helps no user. */
  @Test
  void everyRow_isPrinted() throws IOException {
    List<String> texts = new ArrayList<>(List.of(Files.readString(ROOT.resolve("holdfast"))));
    SourceTexts.below(folders("main", "test")).forEach(each -> texts.addAll(each.texts()));
    String all = texts.stream()
        .map(TroubleshootingPageTest::normal)
        .collect(Collectors.joining(String.valueOf(SourceTexts.GAP)));
    List<String> unknown = messages().stream()
        .flatMap(message -> CLOSED_TOO
            .splitAsStream(message)
            .map(TroubleshootingPageTest::words)
            .filter(words -> !all.contains(words))
            .map(words -> "\"" + words + "\" in: " + message))
        .toList();
    assertThat(unknown)
        .as(
            "words of %s that neither the sources print nor the tests expect: write them as they are printed now",
            PAGE)
        .isEmpty();
  }

  /** Both the cause and the advice of what the command prints when there is no connection. */
  @ParameterizedTest
  @MethodSource("io.holdfast.cli.ConnectionErrorsTest#rows")
  void ofConnections_whatIsSaid_isFound(ConnectionErrorsTest.Row row) {
    assertThat(row.said().split("; ", -1))
        .hasSize(2)
        .filteredOn(part -> part.substring(part.lastIndexOf(": ") + 1).length() >= RECOGNISABLE)
        .allSatisfy(part -> assertFound(() -> {
          throw new IllegalStateException(part);
        }));
  }

  @Test
  void ofLocks_whatIsSaid_isFound() throws Exception {
    String uri = "memory:troubleshooting";
    Holdfast closed = Holdfast.connect(uri);
    closed.close();
    assertFound(() -> closed.lock("nightly").tryAcquire());
    try (Holdfast client = Holdfast.connect(uri);
        Holdfast other = Holdfast.connect(uri)) {
      Hold hold = client.lock("nightly").acquire();
      assertFound(() -> other.lock("nightly").acquire(Duration.ofMillis(1)));
      assertFound(() -> client.lock("nightly").acquire());
      hold.release();
      assertFound(hold::ensureValid);
      assertFound(() -> client.lock("nightly").asJavaLock().unlock());
      assertFound(() -> client.lock("a\nb"));
      assertFound(() -> client.lock("n".repeat(1000)));
    }
  }

  @Test
  void ofOptions_whatIsSaid_isFound() {
    assertFound(() -> LockOptions.builder().leaseFor(Duration.ZERO).build());
    assertFound(() -> LockOptions.builder().note("a\nb").build());
    assertFound(() -> Holdfast.builder().requestTimeout(Duration.ZERO));
    assertFound(() -> Holdfast.builder().build());
    assertFound(() -> Holdfast.connect("locks.db"));
    assertFound(() -> Holdfast.connect("carrier-pigeon://r1.example.com"));
    assertFound(() -> Holdfast.connect("redis://r1.example.com?holdfast.colour=red"));
    assertFound(() -> Holdfast.connect("redis://r1.example.com?holdfast.retention=soon"));
    assertFound(() -> Holdfast.connect("redlock://r1.example.com,r2.example.com"));
    assertFound(() -> Holdfast.connect("jdbc:mysql://db.example.com/app?holdfast.tables=perhaps"));
  }

  @Test
  void ofSqliteFiles_whatIsSaid_isFound() throws Exception {
    assertFound(() -> Holdfast.connect("sqlite:" + folder.resolve("missing/locks.db")));
    assertFound(() -> Holdfast.connect("sqlite:" + folder));
    assertFound(() -> Holdfast.connect("sqlite::memory:"));
    Path text = Files.writeString(folder.resolve("text.db"), "These are notes.\n".repeat(100));
    assertFound(() -> Holdfast.connect("sqlite:" + text));
    Path foreign = folder.resolve("orders.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + foreign);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE orders (id INTEGER)");
    }
    assertFound(() -> Holdfast.connect("sqlite:" + foreign));
  }

  @Test
  void ofTheCommand_whatIsSaid_isFound() {
    assertFound(() -> CommandPath.check("no-such-command", "/nowhere"));
    assertFound(() -> Durations.parse("5 minutes"));
    assertFound(() -> StoreChoice.of("", Map.of(), "/nowhere"));
    assertFound(() -> StoreChoice.of(null, Map.of(), "?"));
    assertFound(() -> StoreChoice.of("@/nowhere/address", Map.of(), "/nowhere"));
  }

  /** What a call fails with is a message of the page, as a user would read it there. */
  private static void assertFound(ThrowingCallable call) {
    Throwable told = catchThrowable(call);
    assertThat(told).as("a failure").isNotNull();
    String message = Objects.requireNonNull(told.getMessage());
    assertThat(rows().stream().filter(row -> shape(row).matcher(message).find()))
        .as("rows of %s for: %s", PAGE, message)
        .isNotEmpty();
  }

  /** The messages of the page that cannot be taken for another one. */
  private static List<String> rows() {
    return messages().stream()
        .filter(each -> OPEN.matcher(each).replaceAll("").length() >= RECOGNISABLE)
        .toList();
  }

  private static Pattern shape(String message) {
    StringBuilder shape = new StringBuilder();
    int end = 0;
    for (MatchResult open : OPEN.matcher(message).results().toList()) {
      shape.append(Pattern.quote(message.substring(end, open.start()))).append(".+?");
      end = open.end();
    }
    return Pattern.compile(shape + Pattern.quote(message.substring(end)), Pattern.DOTALL);
  }

  /** What the tables have in their first column, each message by itself. */
  private static List<String> messages() {
    try (Stream<String> lines = Files.lines(PAGE)) {
      return lines
          .filter(line -> line.startsWith("| `"))
          .map(line -> line.substring(0, line.indexOf(" | ")))
          .flatMap(cell -> CODE.matcher(cell).results())
          .map(code -> code.group(1))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What tells each message of the sources from others, and where it is. */
  private static Map<String, String> printed() throws IOException {
    Map<String, String> printed = new TreeMap<>();
    for (SourceTexts source : SourceTexts.below(folders("main"))) {
      String file = ROOT.relativize(source.file()).toString();
      if (MODULES.stream().noneMatch(module -> file.startsWith("holdfast-" + module + "/"))) {
        continue;
      }
      places(file)
          .flatMap(place -> source.arguments(place).stream())
          .flatMap(message -> telling(message).stream())
          .forEach(words -> printed.put(words, file));
      if (CONNECTIONS.matcher(file).find()) {
        source.texts().stream()
            .filter(text -> text.contains(" ") && !PATTERN.matcher(text).find())
            .map(TroubleshootingPageTest::words)
            .filter(words -> words.length() >= TELLING)
            .forEach(words -> printed.put(words, file));
      }
    }
    return printed;
  }

  private static Stream<Pattern> places(String file) {
    Pattern place = file.startsWith("holdfast-core/") ? CORE_PLACE : PLACE;
    return file.endsWith("Exception.java") ? Stream.of(place, OWN_PLACE) : Stream.of(place);
  }

  /**
   * The pieces of a message that tell it from others: of what comes before its advice, those of at least twenty characters, or
   * the longest one of several words if all are shorter. A message that begins with the words of others has its own behind a semicolon.
   */
  private static List<String> telling(String message) {
    List<String> pieces = Arrays.stream(message.split(";", -1))
        .map(part -> Arrays.stream(part.split(String.valueOf(SourceTexts.GAP), -1))
            .map(TroubleshootingPageTest::words)
            .filter(words -> !words.isEmpty())
            .toList())
        .filter(part -> !part.isEmpty())
        .findFirst()
        .orElse(List.of());
    List<String> ample =
        pieces.stream().filter(each -> each.length() >= TELLING).toList();
    return ample.isEmpty()
        ? pieces.stream()
            .filter(each -> each.contains(" "))
            .max(Comparator.comparingInt(String::length))
            .stream()
            .toList()
        : ample;
  }

  /** Without quotes, brackets and the like around it, which may belong to what is put in beside it. */
  private static String words(String text) {
    return EDGES.matcher(normal(text)).replaceAll("");
  }

  private static String normal(String text) {
    return BLANKS.matcher(text).replaceAll(" ");
  }

  private static List<Path> folders(String... kinds) throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.sorted().toList()) {
        for (String kind : kinds) {
          Path folder = module.resolve("src/" + kind + "/java");
          if (Files.isDirectory(folder)) {
            found.add(folder);
          }
        }
      }
    }
    return found;
  }
}
