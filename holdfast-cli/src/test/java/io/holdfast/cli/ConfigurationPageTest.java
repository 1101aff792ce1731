// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.Stores;
import java.io.IOException;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** docs/configuration.md names what the code has, with the code's defaults. */
class ConfigurationPageTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern DURATION = Pattern.compile("[0-9]+(ms|s|m|h|d)");
  private static final Pattern RANGE = Pattern.compile("no duration from ([^;]+);");

  private static final Map<String, List<String>> GROUPS = Map.of(
      "SQL", List.of("jdbc:postgresql", "jdbc:mysql", "jdbc:mariadb"),
      "SQLite", List.of("sqlite", "jdbc:sqlite"),
      "Redis", List.of("redis", "rediss", "redis-sentinel", "redis-cluster"),
      "Redlock", List.of("redlock"),
      "ZooKeeper", List.of("zookeeper"),
      "etcd", List.of("etcd", "etcds"),
      "Consul", List.of("consul", "consuls"));

  @Test
  void schemes_areThoseOfTheStores() throws IOException {
    Set<String> known = new TreeSet<>();
    ServiceLoader.load(LockStoreFactory.class).forEach(each -> known.addAll(each.schemes()));
    assertThat(firstCodes("Store addresses")).isEqualTo(known);
    for (List<String> row : rows("Store addresses")) {
      String example = codes(row.get(2)).get(0);
      assertThat(StoreAddress.parse(example).scheme())
          .isEqualTo(codes(row.get(0)).get(0));
      try (var store = Stores.open(example)) {
        assertThat(store).as(example).isNotNull();
      }
    }
  }

  @Test
  void parameters_areThoseThatEachStoreKnows() throws IOException {
    Map<String, Set<String>> page = new TreeMap<>();
    for (List<String> row : rows("Parameters of an address")) {
      for (String scheme : schemes(row)) {
        assertThat(page.computeIfAbsent(scheme, key -> new TreeSet<>())
                .add(codes(row.get(0)).get(0)))
            .as("twice: %s", row)
            .isTrue();
      }
    }
    Map<String, Set<String>> code = new TreeMap<>();
    for (List<String> row : rows("Store addresses")) {
      String message = refusal(codes(row.get(2)).get(0), "nonsense", "1");
      Set<String> known = new TreeSet<>();
      Matcher names =
          Pattern.compile("holdfast\\.([a-z-]+)").matcher(message.substring(message.indexOf(';')));
      while (names.find()) {
        known.add(names.group(1));
      }
      if (!known.isEmpty()) {
        code.put(codes(row.get(0)).get(0), known);
      }
    }
    assertThat(page).isEqualTo(code);
  }

  @Test
  void parameters_haveTheRangesOfTheCode() throws IOException {
    for (List<String> row : rows("Parameters of an address")) {
      for (String scheme : schemes(row)) {
        String name = codes(row.get(0)).get(0);
        if (row.get(3).matches("[0-9]+ (ms|s|min|d) to .*")) {
          Matcher range = RANGE.matcher(refusal(example(scheme), name, "9999999d"));
          assertThat(range.find()).as("%s of %s", name, scheme).isTrue();
          assertThat(row.get(3)).as("%s of %s", name, scheme).isEqualTo(range.group(1));
        }
      }
    }
  }

  @Test
  void parameters_haveTheDefaultsOfTheCode() throws IOException {
    Object sql = made("io.holdfast.jdbc.JdbcOptions", "of", "jdbc:postgresql://localhost/app");
    Object sqlTables = get(type("io.holdfast.jdbc.JdbcSettings"), "DEFAULTS");
    Object sqlite = made("io.holdfast.jdbc.SqliteOptions", "of", "sqlite:locks.db");
    Object redis = made("io.holdfast.redis.RedisOptions", "of", "redis://localhost");
    Object redisAddress = made("io.holdfast.redis.RedisAddress", "", "redis://localhost");
    Object redlock = made("io.holdfast.redis.RedlockAddress", "", "redlock://a,b,c");
    Object zookeeper = made("io.holdfast.zookeeper.ZooKeeperAddress", "", "zookeeper://localhost");
    Object consul =
        get(made("io.holdfast.consul.ConsulAddress", "", "consul://localhost"), "settings");
    Object etcd = get(type("io.holdfast.etcd.EtcdSettings"), "DEFAULTS");
    Map<String, Object> code = new TreeMap<>();
    code.put("SQL retention", get(sql, "retention"));
    code.put("SQL poll", get(sql, "pollAtMost"));
    code.put("SQL connections", get(sql, "connections"));
    code.put("SQL tables", get(sql, "createsTables").equals(true) ? "create" : "require");
    code.put("SQL listen", get(sql, "listening"));
    code.put("SQL durability", get(sql, "durability"));
    code.put("SQL prefix", get(sqlTables, "prefix"));
    code.put("SQLite retention", get(sqlite, "retention"));
    code.put("SQLite poll", get(sqlite, "pollAtMost"));
    code.put("Redis retention", get(redis, "retention"));
    code.put("Redis prefix", get(redis, "prefix"));
    code.put("Redis replicas", get(get(redis, "replicas"), "wanted"));
    code.put("Redis replicas-timeout", get(get(redis, "replicas"), "limit"));
    code.put("Redlock retention", get(redis, "retention"));
    code.put("Redlock prefix", get(redis, "prefix"));
    code.put("Redlock max-lease", get(get(redlock, "rule"), "maxLease"));
    Object node = ((List<?>) get(redlock, "singles")).get(0);
    for (Map.Entry<String, Object> each :
        Map.of("Redis", redisAddress, "Redlock", node).entrySet()) {
      code.put(each.getKey() + " connect-timeout", get(each.getValue(), "connectTimeout"));
      code.put(each.getKey() + " client-name", get(each.getValue(), "clientName"));
      code.put(each.getKey() + " tls-verify", get(each.getValue(), "verify"));
    }
    code.put("redis-sentinel tls", get(redisAddress, "isTls"));
    code.put("redis-cluster tls", get(redisAddress, "isTls"));
    code.put("Redlock tls", field(redlock, "tls"));
    code.put("ZooKeeper tls", get(get(zookeeper, "tls"), "isOn"));
    code.put("ZooKeeper connect-timeout", get(zookeeper, "connectTimeout"));
    code.put("ZooKeeper longest-lease", get(get(zookeeper, "settings"), "longestLease"));
    code.put("ZooKeeper tick", get(get(zookeeper, "settings"), "tick"));
    code.put("etcd connect-timeout", get(type("io.holdfast.etcd.EtcdAddress"), "CONNECT"));
    code.put("etcd prefix", get(etcd, "prefix"));
    code.put("Consul connect-timeout", get(type("io.holdfast.consul.ConsulAddress"), "CONNECT"));
    code.put("Consul prefix", get(consul, "prefix"));
    code.put("Consul lock-delay", get(consul, "lockDelay"));
    code.put("Consul session-ttl-min", get(consul, "shortestSession"));
    Map<String, String> page = new TreeMap<>();
    for (List<String> row : rows("Parameters of an address")) {
      if (row.get(2).matches("`[^`]+`")) {
        for (String store : row.get(1).split(", ", -1)) {
          page.put(store + " " + codes(row.get(0)).get(0), plain(row.get(2)));
        }
      }
    }
    assertThat(page).isEqualTo(texts(code));
  }

  @Test
  void lockOptions_areThoseOfTheCode() throws IOException {
    Map<String, Object> code = new TreeMap<>();
    for (Method each : LockOptions.Builder.class.getDeclaredMethods()) {
      if (Modifier.isPublic(each.getModifiers()) && !each.getName().equals("build")) {
        code.put(each.getName(), get(LockOptions.defaults(), each.getName()));
      }
    }
    assertThat(code.put("onLost", "does nothing")).isNotNull();
    assertThat(code.put("note", LockOptions.defaults().note().isEmpty() ? "empty" : "text"))
        .isNotNull();
    assertThat(defaults("LockOptions")).isEqualTo(texts(code));
  }

  @Test
  void builder_isThatOfTheCode() throws IOException {
    Set<String> setters = new TreeSet<>();
    for (Method each : Holdfast.Builder.class.getDeclaredMethods()) {
      setters.add(each.getName());
    }
    setters.remove("build");
    Map<String, String> page = defaults("Holdfast.Builder");
    assertThat(page.keySet()).isEqualTo(setters);
    Object builder = Holdfast.builder();
    for (String each : List.of("clientName", "requestTimeout", "storeRetryFor")) {
      assertThat(page.get(each)).isEqualTo(text(field(builder, each)));
    }
    assertThat(page.get("connectLazily")).isEqualTo(text(field(builder, "lazily")));
  }

  @Test
  void variables_areThoseThatTheCodeNames() throws IOException {
    Set<String> code = new TreeSet<>();
    Pattern java = Pattern.compile("\\.(?:getenv|getOrDefault|get|put|remove)\\(\\s*\"([A-Z_]+)\"");
    Set<String> properties = new TreeSet<>();
    Pattern property = Pattern.compile("\\(\\s*\"(holdfast\\.[a-z.]+)\"");
    for (String module : List.of("core", "jdbc", "redis", "zookeeper", "etcd", "consul", "cli")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve("holdfast-" + module + "/src/main/java"))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          String text = Files.readString(file);
          if (text.contains("environment") || text.contains("getenv")) {
            find(java, text, code);
          }
          if (text.contains("getProperty(") || text.contains("getBoolean(")) {
            find(property, text, properties);
          }
        }
      }
    }
    find(Pattern.compile("\\$\\{([A-Z_]+)"), Files.readString(ROOT.resolve("holdfast")), code);
    assertThat(firstCodes("Environment variables")).isEqualTo(code);
    Set<String> named = new TreeSet<>();
    find(Pattern.compile("`(holdfast\\.[a-z.]+)`"), section("Environment variables"), named);
    assertThat(named).isEqualTo(properties);
  }

  @Test
  void exitCodes_areThoseOfTheCode() throws Exception {
    Set<String> code = new TreeSet<>();
    for (Field each : Exit.class.getDeclaredFields()) {
      if (!Modifier.isPrivate(each.getModifiers()) && !each.isSynthetic()) {
        code.add(each.getInt(null) + " " + each.getName());
      }
    }
    Set<String> page = new TreeSet<>();
    for (List<String> row : rows("Exit codes")) {
      if (!row.get(0).startsWith("128")) {
        page.add(row.get(0) + " " + plain(row.get(1)));
      }
    }
    assertThat(page).isEqualTo(code);
    for (Sig each : List.of(Sig.HUP, Sig.INT, Sig.TERM)) {
      assertThat(section("Exit codes")).contains(Exit.of(each) + " SIG" + each.name());
    }
  }

  @Test
  void commands_areThoseOfTheCode() throws IOException {
    Set<String> code = new TreeSet<>();
    Main.commandLine().getSubcommands().forEach((name, line) -> {
      if (!line.getCommandSpec().usageMessage().hidden()) {
        code.add(name);
      }
    });
    assertThat(firstCodes("Options of the command")).isEqualTo(code);
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "ls", "show", "release", "doctor", "ddl", "verify", "bench"})
  void options_areThoseOfTheCode(String command) throws IOException {
    CommandLine line =
        Objects.requireNonNull(Main.commandLine().getSubcommands().get(command));
    CommandSpec spec = line.getCommandSpec();
    Map<String, String> code = new TreeMap<>();
    for (OptionSpec each : spec.options()) {
      if (!each.inherited()) {
        code.put(
            String.join(", ", new TreeSet<>(Arrays.asList(each.names()))), initial(command, each));
      }
    }
    Map<String, String> page = new TreeMap<>();
    for (List<String> row : rows("Options of the command")) {
      if (plain(row.get(0)).equals(command)) {
        List<String> words = codes(row.get(2));
        page.put(
            String.join(", ", new TreeSet<>(codes(row.get(1)))),
            words.isEmpty()
                ? row.get(2).equals("off") ? "off" : "none"
                : canonical(words.get(words.size() - 1)));
      }
    }
    assertThat(page).isEqualTo(code);
  }

  /** Where an option that was not given is null, what stands for it then. */
  private static String initial(String command, OptionSpec option) {
    Object value = option.initialValue();
    if (value instanceof boolean[]) {
      return "off";
    }
    if (value instanceof Boolean on && !option.required()) {
      return on ? "on" : "off";
    }
    if (value instanceof List<?> several) {
      return String.join(",", several.stream().map(String::valueOf).toList());
    }
    return switch (command + " " + option.longestName()) {
      case "run --lease" -> text(LockOptions.DEFAULT_LEASE);
      case "run --grace" -> text(get(KillPlan.class, "LONGEST_GRACE"));
      case "run --busy-exit" -> text(Exit.BUSY);
      case "verify --lease" -> text(get(VerifyCommand.class, "USUAL_LEASE"));
      case "bench --seconds" -> text(get(BenchCommand.class, "USUAL_SECONDS"));
      default -> value == null || option.required() ? "none" : text(value);
    };
  }

  private static List<String> schemes(List<String> row) {
    return Arrays.stream(row.get(1).split(", ", -1))
        .flatMap(each -> GROUPS.getOrDefault(each, List.of(each)).stream())
        .toList();
  }

  private static String example(String scheme) throws IOException {
    for (List<String> row : rows("Store addresses")) {
      if (plain(row.get(0)).equals(scheme)) {
        return codes(row.get(2)).get(0);
      }
    }
    throw new AssertionError(scheme);
  }

  private static String refusal(String address, String name, String value) {
    String uri = address + (address.contains("?") ? "&" : "?") + "holdfast." + name + "=" + value;
    Throwable refused = catchThrowable(() -> Stores.open(uri).close());
    assertThat(refused).as(uri).isNotNull();
    return String.valueOf(refused.getMessage());
  }

  private static Map<String, String> defaults(String heading) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (List<String> row : rows(heading)) {
      all.put(plain(row.get(0)), plain(row.get(1)));
    }
    return all;
  }

  private static Map<String, String> texts(Map<String, Object> values) {
    Map<String, String> all = new TreeMap<>();
    values.forEach((name, value) -> all.put(name, text(value)));
    return all;
  }

  private static String text(Object value) {
    if (value instanceof Duration duration) {
      return duration.toString();
    }
    if (value instanceof Optional<?> optional) {
      return optional.isEmpty() ? "none" : text(optional.get());
    }
    return value instanceof Enum<?> constant
        ? constant.name().toLowerCase(Locale.ROOT)
        : String.valueOf(value);
  }

  private static String plain(String cell) {
    return canonical(cell.replace("`", ""));
  }

  private static String canonical(String text) {
    return DURATION.matcher(text).matches() ? Durations.parse(text).toString() : text;
  }

  private static List<String> codes(String cell) {
    List<String> all = new ArrayList<>();
    find(CODE, cell, all);
    return all;
  }

  private static void find(Pattern pattern, String text, Collection<String> into) {
    pattern.matcher(text).results().map(found -> found.group(1)).forEach(into::add);
  }

  private static Set<String> firstCodes(String heading) throws IOException {
    Set<String> all = new TreeSet<>();
    for (List<String> row : rows(heading)) {
      all.add(plain(row.get(0)));
    }
    return all;
  }

  private static String section(String heading) throws IOException {
    String page = Files.readString(ROOT.resolve("docs/configuration.md"));
    int from = page.indexOf("\n## " + heading + "\n");
    assertThat(from).as(heading).isNotNegative();
    int to = page.indexOf("\n## ", from + 1);
    return page.substring(from, to < 0 ? page.length() : to);
  }

  /** The rows of the section's table, without its head. */
  private static List<List<String>> rows(String heading) throws IOException {
    return section(heading)
        .lines()
        .filter(line -> line.startsWith("| "))
        .skip(1)
        .map(line -> Arrays.stream(line.substring(1, line.length() - 1).split("\\|", -1))
            .map(String::strip)
            .toList())
        .toList();
  }

  private static Class<?> type(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  /** What a store reads from an address, by its constructor if no method is named. */
  private static Object made(String type, String method, String uri) {
    try {
      if (method.isEmpty()) {
        Constructor<?> constructor = type(type).getDeclaredConstructor(StoreAddress.class);
        constructor.setAccessible(true);
        return constructor.newInstance(StoreAddress.parse(uri));
      }
      Method of = type(type).getDeclaredMethod(method, StoreAddress.class);
      of.setAccessible(true);
      return Objects.requireNonNull(of.invoke(null, StoreAddress.parse(uri)));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(String.valueOf(e.getMessage()), e);
    }
  }

  /** What a method without parameters returns, or else what a field has; of a class, a constant. */
  private static Object get(Object from, String name) {
    if (from instanceof Class<?>) {
      return field(from, name);
    }
    try {
      Method method = from.getClass().getDeclaredMethod(name);
      open(method);
      return Objects.requireNonNull(method.invoke(from));
    } catch (NoSuchMethodException e) {
      return field(from, name);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(String.valueOf(e.getMessage()), e);
    }
  }

  private static Object field(Object from, String name) {
    try {
      Field field = (from instanceof Class<?> type ? type : from.getClass()).getDeclaredField(name);
      open(field);
      return Objects.requireNonNull(field.get(from));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(String.valueOf(e.getMessage()), e);
    }
  }

  private static void open(AccessibleObject member) {
    member.setAccessible(true);
  }
}
