// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The programs of the servers that tests start: where they are, and whether they are of use. A program that fails, that is
 * another product or that refuses this user is as good as none: the test is aborted, with that as the reason. With {@code
 * -Dholdfast.stores=required} it fails. With {@code -Dholdfast.servers=oldest} they are the oldest supported versions, in a
 * folder of their own, and no others.
 */
public final class ServerPrograms {
  /** What each says of its version: the reason why one that says something else, or is older, is not used. */
  private static final Map<String, Product> PRODUCTS = Map.of(
      "redis-server", new Product("Redis server v=", "7.0"),
      "valkey-server", new Product("Valkey server v=", "8.1"),
      "etcd", new Product("etcd Version: ", "3.4"),
      "consul", new Product("Consul v", "1.22"),
      "postgres", new Product("\\(PostgreSQL\\) ", "15"),
      "initdb", new Product("\\(PostgreSQL\\) ", "15"),
      "pg_basebackup", new Product("\\(PostgreSQL\\) ", "15"),
      "pgbouncer", new Product("PgBouncer ", "1.18"),
      "mariadbd", new Product(" Ver (?=\\S*MariaDB)", "10.11"),
      "mysqld", new Product(" Ver (?!\\S*MariaDB)", "5.7"));

  /** These refuse to be run by root, but answer {@code --version} to root too. */
  private static final Set<String> REFUSE_ROOT =
      Set.of("postgres", "initdb", "pg_basebackup", "pgbouncer");

  private static final long VERSION_SECONDS = 60;
  private static final long RUN_SECONDS = 300;
  private static final int LONGEST_REASON = 300;

  private static final Map<String, Search> SEARCHES = new ConcurrentHashMap<>();

  /** Servers that have answered in this JVM: if one of these programs fails later, the test fails. */
  private static final Set<String> WORKED = ConcurrentHashMap.newKeySet();

  private ServerPrograms() {}

  /** A server: what stands before the version when its program is asked for it, and the oldest version that is supported. */
  private record Product(Pattern version, String oldest) {
    Product(String before, String oldest) {
      this(Pattern.compile(before + "(\\d+(?:\\.\\d+)?)"), oldest);
    }

    /** Says why a program that says this is of no use; nothing if it is of use. */
    Optional<String> obstacle(String said, boolean isNamed) {
      Matcher found = version.matcher(said);
      if (!found.find()) {
        return Optional.of("is something else: " + brief(said));
      }
      String is = found.group(1);
      // one that the environment names is meant, however old it is
      return isNamed || Version.parse(is).compareTo(Version.parse(oldest)) >= 0
          ? Optional.empty()
          : Optional.of("is " + is + ", and " + oldest + " is the oldest that is supported");
    }
  }

  /** Where a program is and what it says of its version; or why there is none. */
  private record Search(Optional<Path> program, String said) {
    static Search inVain(String why) {
      return new Search(Optional.empty(), why);
    }
  }

  /** What a process said, on both of its outputs, and how it ended. */
  private record Run(int exitCode, String said) {}

  /**
   * Runs a program that comes with a server to its end, for example the one that makes its data folder. It is found as
   * {@link ServerProcess#of} says.
   *
   * @param name the program, for example {@code initdb}
   * @param arguments the arguments of the program
   * @param input what it reads; must be little
   * @return what it says, on both of its outputs
   * @throws org.opentest4j.TestAbortedException if there is none, or if it fails and no server of that name has answered in
   *     this JVM before
   * @throws AssertionError in the same cases if all stores are required; if it fails, and such a server has answered before
   */
  public static String run(String name, List<String> arguments, String input) {
    List<String> command = new ArrayList<>(List.of(get(name).toString()));
    command.addAll(arguments);
    Run run;
    try {
      run = run(command, input, RUN_SECONDS);
    } catch (IOException e) {
      throw failed(name, "does not run", String.valueOf(e.getMessage()));
    }
    if (run.exitCode() != 0) {
      throw failed(name, "has failed with " + run.exitCode(), run.said());
    }
    return run.said();
  }

  /** What is there may be any program, and may hang: its time is limited, and nothing of it is left. */
  private static Run run(List<String> command, String input, long seconds) throws IOException {
    Path read = Files.createTempFile("holdfast-reads", ".txt");
    Path said = Files.createTempFile("holdfast-says", ".txt");
    try {
      Files.writeString(read, input);
      Process running = new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(said.toFile())
          .redirectInput(read.toFile())
          .start();
      try {
        if (!running.waitFor(seconds, TimeUnit.SECONDS)) {
          throw new IOException("it has not ended after " + seconds + " s");
        }
      } finally {
        running.descendants().forEach(ProcessHandle::destroyForcibly);
        running.destroyForcibly().onExit().join();
      }
      return new Run(
          running.exitValue(), new String(Files.readAllBytes(said), StandardCharsets.UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      Files.delete(read);
      Files.delete(said);
    }
  }

  /**
   * Returns the folder that {@code dev/servers} unpacks servers into, and that tests keep in what they prepare once.
   *
   * @return {@code HOLDFAST_SERVERS}, else a folder below the user's cache folder; it need not exist
   */
  public static Path cache() {
    String own = environment("HOLDFAST_SERVERS");
    if (!own.isEmpty()) {
      return Path.of(own);
    }
    String caches = environment("XDG_CACHE_HOME");
    String home = environment("HOME");
    return (caches.isEmpty()
            ? Path.of(home.isEmpty() ? System.getProperty("user.home") : home, ".cache")
            : Path.of(caches))
        .resolve("holdfast")
        .resolve("servers");
  }

  /** Returns a variable; empty where it is not set, as the shell has it, in which dev/servers is written. */
  private static String environment(String name) {
    return System.getenv().getOrDefault(name, "");
  }

  /** Returns where a program is. Without it the test is not run. */
  static Path get(String name) {
    Search search = search(name);
    return search.program().orElseThrow(() -> Needs.missing(search.said()));
  }

  /**
   * Returns what a server's program says of its version.
   *
   * @param name the program, for example {@code redis-server}
   * @return one line or more
   * @throws org.opentest4j.TestAbortedException if there is none of use
   * @throws AssertionError in the same case if all stores are required
   */
  public static String version(String name) {
    get(name);
    return search(name).said();
  }

  /**
   * Returns what {@code dev/servers} has to say of the program that it left to the tests: the matrix shows it behind the
   * version.
   *
   * @param name the program, for example {@code redis-server}
   * @return for example that it is older than wanted, in brackets after a space; empty if it is what it should be, or was
   *     named by the environment
   */
  public static String remark(String name) {
    Path remark = bin().resolve(name + ".remark");
    try {
      return named(name).isEmpty() && Files.exists(remark)
          ? " (" + Files.readString(remark).strip() + ")"
          : "";
    } catch (IOException e) {
      throw new UncheckedIOException("the cache of servers cannot be read", e);
    }
  }

  /**
   * Says whether tests take a program from what {@code dev/servers} has fetched; not from {@code PATH}, where there may be a
   * newer one.
   *
   * @param name the program, for example {@code redis-server}
   * @return false also where there is none of use
   */
  public static boolean isFetched(String name) {
    return search(name).program().filter(bin().resolve(name)::equals).isPresent();
  }

  /** Returns the folder in which {@code dev/servers} has put the programs that are wanted. */
  private static Path bin() {
    return (ServerOptions.areOldest() ? cache().resolve("oldest") : cache()).resolve("bin");
  }

  /** Returns what the environment names for it. The oldest versions are in their folder alone. */
  private static Optional<Path> named(String name) {
    String named = ServerOptions.areOldest() ? "" : environment(variable(name));
    return named.isEmpty() ? Optional.empty() : Optional.of(Path.of(named));
  }

  /**
   * Says why tests cannot start a server on this machine. The first call asks the programs that it finds for their versions, a
   * minute each at most.
   *
   * @param name the program, for example {@code redis-server}
   * @return that it was not found, or what is wrong with what was found; empty if there is one of use
   */
  public static Optional<String> obstacle(String name) {
    Search search = search(name);
    return search.program().isPresent() ? Optional.empty() : Optional.of(search.said());
  }

  /**
   * Returns the oldest supported version of a server.
   *
   * @param name the program, for example {@code redis-server}
   * @return the version without its last number, for example {@code 7.0}
   * @throws IllegalArgumentException if it is not the program of a server
   */
  public static String oldest(String name) {
    Product product = PRODUCTS.get(name);
    if (product == null) {
      throw new IllegalArgumentException(name + " is no server's program");
    }
    return product.oldest();
  }

  /** Says whether there is one of use. */
  static boolean isThere(String name) {
    return search(name).program().isPresent();
  }

  private static Search search(String name) {
    return SEARCHES.computeIfAbsent(name, ServerPrograms::look);
  }

  private static Search look(String name) {
    Optional<Path> named = named(name);
    if (named.isPresent()) {
      Path place = named.get();
      Search found = isProgram(place)
          ? judge(name, place, true, true)
          : Search.inVain("is not the file of a program");
      return found.program().isPresent()
          ? found
          : Search.inVain(variable(name) + ": " + place + " " + found.said());
    }
    List<String> obstacles = new ArrayList<>();
    Path ours = bin().resolve(name);
    for (Path place : places(ours, name)) {
      if (isProgram(place)) {
        Search found = judge(name, place, place.equals(ours), false);
        if (found.program().isPresent()) {
          return found;
        }
        obstacles.add(place + " " + found.said());
      }
    }
    String why = obstacles.isEmpty() ? name + " was not found" : String.join("; ", obstacles);
    return Search.inVain(why
        + (ServerOptions.areOldest()
            ? " (run dev/servers --oldest)"
            : " (run dev/servers, or set " + variable(name) + ")"));
  }

  private static boolean isProgram(Path place) {
    return Files.isExecutable(place) && Files.isRegularFile(place);
  }

  private static List<Path> places(Path ours, String name) {
    List<Path> places = new ArrayList<>(List.of(ours));
    if (ServerOptions.areOldest()) {
      return places;
    }
    for (String each : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      places.add(Path.of(each, name));
    }
    return places;
  }

  private static String variable(String name) {
    return "HOLDFAST_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** Asks what is there for its version. */
  private static Search judge(String name, Path place, boolean isOurs, boolean isNamed) {
    Product product = PRODUCTS.get(name);
    if (product == null) {
      return new Search(Optional.of(place), "");
    }
    // what is put there for these tests may hide from it that it is run by root
    if (REFUSE_ROOT.contains(name) && isRoot() && !isOurs) {
      return Search.inVain("refuses to be run by root");
    }
    try {
      Run asked = run(List.of(place.toString(), "--version"), "", VERSION_SECONDS);
      if (asked.exitCode() != 0) {
        return Search.inVain("fails with " + asked.exitCode() + " when asked for its version: "
            + brief(asked.said()));
      }
      return product
          .obstacle(asked.said(), isNamed)
          .map(Search::inVain)
          .orElseGet(() -> new Search(Optional.of(place), asked.said()));
    } catch (IOException e) {
      return Search.inVain("does not run: " + e.getMessage());
    }
  }

  /**
   * Says whether this JVM is run by root, also where the user has no name.
   *
   * @return false also on a system without such users
   */
  public static boolean isRoot() {
    try {
      Path own = Files.createTempFile("holdfast-user", "");
      try {
        return Integer.valueOf(0).equals(Files.getAttribute(own, "unix:uid"));
      } finally {
        Files.delete(own);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("no file in the folder for temporary files", e);
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  /** A server has answered. */
  static void noteAnswer(String name) {
    WORKED.add(name);
  }

  /** A program has failed. Aborts the test if that says that there is none of use; otherwise returns the failure. */
  static AssertionError failed(String name, String how, String said) {
    return WORKED.contains(name)
        ? new AssertionError(name + " " + how + ": " + said)
        : Needs.missing(name + " " + how + ": " + brief(said));
  }

  /** The end of it, which is where programs say what they died of. */
  private static String brief(String text) {
    String line = text.strip().replaceAll("\\s*\\R\\s*", " | ");
    return line.length() <= LONGEST_REASON
        ? line
        : "..." + line.substring(line.length() - LONGEST_REASON);
  }
}
