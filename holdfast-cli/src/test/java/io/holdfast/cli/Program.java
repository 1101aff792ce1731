// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@code holdfast} as it is installed: a jar, with an archive of its classes and SQLite's library unpacked, as the
 * launcher makes them; above tier "fast" the archive has every store's classes. Made once for all tests, which start
 * hundreds of processes.
 */
final class Program {
  private static final Pattern NEEDED = Pattern.compile(
      ".*/(holdfast-(consul|core|etcd|jdbc|measure|redis|verify|zookeeper)|picocli|HikariCP|mariadb-java-client|postgresql|sqlite-jdbc|jspecify|lettuce-core|netty-|reactor-core|reactive-streams|redis-authx|slf4j-|jetcd-|grpc-|protobuf-|proto-google-|vertx-|guava-|failureaccess-|failsafe-|perfmark-|jackson-core-|gson-|javax.annotation-api-|curator-|zookeeper-|audience-annotations-|commons-io-|snappy-|metrics-|jaxb-)[^/]*(/target[^/]*(/[^/]*)?/classes)?");

  /** No server is there: most of what a driver ever loads it loads before it is refused. */
  private static final List<String> SERVERS = List.of(
      "redis://127.0.0.1:1",
      "etcd://127.0.0.1:1",
      "consul://127.0.0.1:1",
      "zookeeper://127.0.0.1:1",
      "jdbc:postgresql://127.0.0.1:1/none",
      "jdbc:mariadb://127.0.0.1:1/none");

  private static final Program ONCE = new Program();

  private final Path folder;
  private final Path jar;
  private final Path archive;
  private final List<String> java;

  private Program() {
    try {
      folder = Files.createTempDirectory("holdfast-program").toRealPath();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
      jar = makeJar();
      java = new ArrayList<>(List.of(
          Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          // what the archive does not fit is told there, and is no failure
          "-Xlog:disable",
          "-Xlog:all=error:stderr"));
      if (Runtime.version().feature() >= 23) {
        java.add("--sun-misc-unsafe-memory-access=allow");
      }
      Path library = folder.resolve("native");
      start(List.of("-jar", jar.toString()), "prepare", library.toString());
      java.add("-Dorg.sqlite.lib.path=" + library);
      archive = folder.resolve("classes.jsa");
      List<String> stores = new ArrayList<>();
      if (!System.getProperty("holdfast.tier", "fast").equals("fast")) {
        stores.addAll(SERVERS);
      }
      stores.add("sqlite:" + folder.resolve("locks.db"));
      start(
          List.of(
              "-XX:ArchiveClassesAtExit=" + archive,
              "-cp",
              jar.toString(),
              ClassLoads.class.getName()),
          stores.toArray(String[]::new));
      if (Files.exists(archive)) {
        java.add("-XX:SharedArchiveFile=" + archive);
        java.add("-Dholdfast.classes=" + archive);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The jar; its manifest has the main class, and the rest of the class path. */
  static Path jar() {
    return ONCE.jar;
  }

  /** Whether there is an archive of classes: not if the class path has folders. */
  static boolean hasArchive() {
    return Files.exists(ONCE.archive);
  }

  /** The command line that starts it, up to the arguments. */
  static List<String> line(List<String> jvmOptions) {
    return ONCE.lineWith(jvmOptions);
  }

  private List<String> lineWith(List<String> jvmOptions) {
    List<String> line = new ArrayList<>(java);
    line.addAll(jvmOptions);
    line.addAll(List.of("-jar", jar.toString()));
    return line;
  }

  private void start(List<String> program, String... arguments) throws IOException {
    List<String> line = new ArrayList<>(java);
    line.addAll(program);
    line.addAll(List.of(arguments));
    Path said = folder.resolve("said");
    Process process = new ProcessBuilder(line)
        .redirectErrorStream(true)
        .redirectOutput(said.toFile())
        .start();
    if (new Job("prepare", process, said, said).exitCode() != 0) {
      throw new IOException(line + ": " + Files.readString(said));
    }
  }

  private Path makeJar() throws IOException {
    Path classes = whereIs(Main.class);
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, "io.holdfast.cli.Main");
    // as the program's own manifest has it: the driver of SQLite is native
    attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
    attributes.put(Attributes.Name.CLASS_PATH, String.join(" ", libraries()));
    Path made = folder.resolve("holdfast.jar");
    try (OutputStream out = Files.newOutputStream(made);
        JarOutputStream to = new JarOutputStream(out, manifest);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        add(to, classes, classes.relativize(file).toString());
      }
      String loads = ClassLoads.class.getName().replace('.', '/') + ".class";
      add(to, whereIs(ClassLoads.class), loads);
    }
    return made;
  }

  private static void add(JarOutputStream to, Path classes, String name) throws IOException {
    to.putNextEntry(new JarEntry(name));
    Files.copy(classes.resolve(name), to);
    to.closeEntry();
  }

  private static Path whereIs(Class<?> type) {
    return Path.of(
        URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  /** The rest of the class path, relative to the jar: an archive does not know other kinds. */
  private List<String> libraries() throws IOException {
    Path lib = Files.createDirectory(folder.resolve("lib"));
    List<String> libraries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path file = Path.of(entry);
      if (NEEDED.matcher(entry).matches()) {
        if (Files.isRegularFile(file)) {
          Files.copy(file, lib.resolve(file.getFileName()));
          libraries.add("lib/" + file.getFileName());
        } else {
          // compiled, but not packaged: works without the archive
          libraries.add(file.toUri().toString());
        }
      }
    }
    return libraries;
  }

  static void remove(Path folder) {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException | UncheckedIOException e) {
      // A process that was just killed may still have been making files. The system cleans its folder of such rests.
      return;
    }
  }
}
