// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.testkit.process.Needs;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The project of a user of one store. Its build file is what the README says for the embedded store, with the artifacts of
 * this one in the place of that one's. Maven resolves and compiles it from what this build has packaged, with the build
 * files that are published.
 */
final class UserProject {
  /** Surefire starts tests in their module's folder. */
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final String BUILD = System.getProperty("holdfast.buildDirectory", "target");
  private static final String EMBEDDED = "<artifactId>holdfast-sqlite</artifactId>";

  /** For a JVM that does little. */
  private static final List<String> BRIEFLY =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

  private static final String PROGRAM = """
      import io.holdfast.ConfigurationException;
      import io.holdfast.Hold;
      import io.holdfast.Holdfast;

      public class Program {
        public static void main(String[] addresses) throws Exception {
          for (String address : addresses) {
            try (Holdfast client = Holdfast.connect(address);
                Hold hold = client.lock("nightly-report").acquire()) {
              System.out.println("said: " + (hold.token() > 0 ? "acquired" : "no token"));
            } catch (ConfigurationException e) {
              System.out.println("said: " + e.getMessage());
            }
          }
        }
      }
      """;

  private static final String BUILD_FILE = """
      <project xmlns="http://maven.apache.org/POM/4.0.0">
        <modelVersion>4.0.0</modelVersion>
        <groupId>example</groupId>
        <artifactId>%s</artifactId>
        <version>1</version>
        <properties>
          <maven.compiler.release>17</maven.compiler.release>
          <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
          <mdep.outputFile>${project.build.directory}/class-path</mdep.outputFile>
        </properties>
        %s
      </project>
      """;

  private final Path folder;
  private final List<String> artifacts;

  /**
   * Makes one, not compiled.
   *
   * @param folder where; does not exist yet
   * @param artifacts what the user adds: the store's artifact, and behind it the group and the artifact of its driver if that
   *     does not come along
   */
  UserProject(Path folder, String... artifacts) {
    this.folder = folder;
    this.artifacts = List.of(artifacts);
  }

  /** Compiles the projects in a folder, with the Maven that runs this build, from what it has fetched already. */
  static void compile(Path folder, UserProject... projects) throws Exception {
    Needs.that(isPackaged(), "nothing is packaged: run verify");
    Path published = folder.resolve("published");
    publish(published);
    for (UserProject each : projects) {
      each.write();
    }
    String modules = Stream.of(projects)
        .map(each -> "<module>" + each.folder.getFileName() + "</module>")
        .collect(Collectors.joining("", "<packaging>pom</packaging><modules>", "</modules>"));
    Files.writeString(folder.resolve("pom.xml"), BUILD_FILE.formatted("all", modules));
    Started maven = Started.start(
        folder,
        "maven",
        List.of(
            "env",
            "MAVEN_OPTS=" + String.join(" ", BRIEFLY),
            Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
            "--offline",
            "--batch-mode",
            "-Dmaven.repo.local=" + published,
            "-Dmaven.repo.local.tail=" + System.getProperty("holdfast.localRepository"),
            plugin("maven-compiler-plugin") + ":compile",
            plugin("maven-dependency-plugin") + ":build-classpath"));
    assertThat(maven.exitCode()).as(maven::text).isZero();
  }

  private static boolean isPackaged() throws URISyntaxException {
    Path core = Path.of(
        Holdfast.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    return core.startsWith(ROOT) && core.toString().endsWith(".jar");
  }

  /** Puts what is deployed of all modules into a repository. */
  private static void publish(Path repository) throws IOException {
    String version = first(Files.readString(ROOT.resolve("pom.xml")), "<version>([^<]+)</version>");
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module :
          modules.filter(each -> Files.exists(each.resolve("pom.xml"))).toList()) {
        String name = module.getFileName().toString();
        Path buildFile = name.equals("holdfast-bom")
            ? module.resolve("pom.xml")
            : module.resolve(BUILD).resolve("installed-pom.xml");
        if (Files.exists(buildFile)) {
          Path to = Files.createDirectories(
              repository.resolve("io/holdfast").resolve(name).resolve(version));
          copy(buildFile, to.resolve(name + "-" + version + ".pom"));
          Path jar = Path.of(name + "-" + version + ".jar");
          copy(module.resolve(BUILD).resolve(jar), to.resolve(jar));
        }
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    if (Files.exists(from)) {
      Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static String plugin(String artifact) throws IOException {
    return "org.apache.maven.plugins:" + artifact + ":"
        + first(
            Files.readString(ROOT.resolve("pom.xml")),
            "<artifactId>" + artifact + "</artifactId>\\s*<version>([^<]+)</version>");
  }

  private void write() throws IOException {
    String snippet = Markdown.read(ROOT.resolve("README.md")).blocks().stream()
        .filter(block -> block.language().equals("xml"))
        .map(Markdown.Block::code)
        .findFirst()
        .orElseThrow();
    assertThat(snippet).containsOnlyOnce(EMBEDDED);
    StringBuilder added =
        new StringBuilder("<artifactId>" + artifacts.get(0) + "</artifactId></dependency>");
    for (String driver : artifacts.subList(1, artifacts.size())) {
      added.append(dependency(driver));
    }
    snippet = snippet.replaceFirst(
        EMBEDDED + "\\s*</dependency>", Matcher.quoteReplacement(added.toString()));
    Path sources = Files.createDirectories(folder.resolve("src/main/java"));
    Files.writeString(sources.resolve("Program.java"), PROGRAM);
    Files.writeString(
        folder.resolve("pom.xml"), BUILD_FILE.formatted(folder.getFileName(), snippet));
  }

  /** Without what it brings for other uses, which this build may have fetched in another version. */
  private static String dependency(String driver) throws IOException {
    String[] names = driver.split(":", 2);
    String version =
        first(Files.readString(ROOT.resolve("pom.xml")), "<" + names[1] + ".version>([^<]+)</");
    return "<dependency><groupId>" + names[0] + "</groupId><artifactId>" + names[1]
        + "</artifactId><version>" + version + "</version><scope>runtime</scope>"
        + "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>";
  }

  /** The jars that the user has then. */
  List<Path> jars() throws IOException {
    String path = Files.readString(folder.resolve("target").resolve("class-path"));
    return Stream.of(path.strip().split(File.pathSeparator)).map(Path::of).toList();
  }

  /** Has the program acquire a lock of each store; returns a line for each. */
  List<String> run(String... addresses) throws Exception {
    return runWithout(null, addresses);
  }

  /** As {@link #run}, where one of the jars is not there. */
  List<String> runWithout(@Nullable String artifact, String... addresses) throws Exception {
    List<String> path = new ArrayList<>(List.of(classes()));
    for (Path jar : jars()) {
      if (artifact == null || !jar.getFileName().toString().startsWith(artifact + "-")) {
        path.add(jar.toString());
      }
    }
    return java(List.of("-cp", String.join(File.pathSeparator, path)), addresses);
  }

  /** As {@link #run}, with what the user has as modules. */
  List<String> runWithModules(String module, String... addresses) throws Exception {
    String path =
        jars().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    return java(
        List.of(
            "-p",
            path,
            "--add-modules",
            module,
            "--enable-native-access=org.xerial.sqlitejdbc",
            "-cp",
            classes()),
        addresses);
  }

  private String classes() {
    return folder.resolve("target").resolve("classes").toString();
  }

  private List<String> java(List<String> options, String... addresses) throws Exception {
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(BRIEFLY);
    command.addAll(options);
    command.add("Program");
    command.addAll(List.of(addresses));
    Started program = Started.start(folder, "program", command);
    assertThat(program.exitCode()).as(program::text).isZero();
    // what a JVM and libraries have to remark is not the program's word
    return Files.readAllLines(program.said()).stream()
        .filter(line -> line.startsWith("said: "))
        .map(line -> line.substring("said: ".length()))
        .toList();
  }

  private static String first(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertThat(found.find()).as(pattern).isTrue();
    return found.group(1);
  }
}
