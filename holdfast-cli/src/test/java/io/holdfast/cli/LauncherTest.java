// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The launcher {@code ./holdfast} in a source tree of the test's own, where "building" makes a jar of our class path. */
class LauncherTest {
  /** The JDK of this test: with it a first use makes an archive of classes, which takes most of its time. */
  private static final Map<String, String> ARCHIVING =
      Map.of("JAVA_HOME", System.getProperty("java.home"));

  @RegisterExtension
  final Processes processes = new Processes();

  private Path root = Path.of("set before each test");

  @BeforeEach
  void makeTree() throws IOException {
    root = processes.file("a tree");
    Tree.make(root);
    Files.createDirectories(processes.file("without archives/bin"));
    processes.script(
        "without archives/bin/javac",
        "exit 1"); // so that the launcher takes the folder for a JDK
    processes.script(
        "without archives/bin/java",
        "case \"$*\" in *-XX:ArchiveClassesAtExit=*) exit 1 ;; esac",
        "exec '" + System.getProperty("java.home") + "/bin/java' \"$@\"");
  }

  @Test
  void launcher_firstUse_buildsOnceAndSaysSo() {
    Job first = launch(ARCHIVING, "--version");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(first.stdout()).startsWith("holdfast ");
    assertThat(first.stderr()).contains("holdfast: building; this happens on first use");
    assertThat(processes.read("a tree/builds"))
        .hasLineCount(1)
        .contains("-Dquick", "-pl holdfast-cli -am package");

    Job second = launch(ARCHIVING, "--version");
    assertThat(second.exitCode()).isZero();
    assertThat(second.stderr()).isEmpty();
    assertThat(processes.read("a tree/builds")).hasLineCount(1);
  }

  @Test
  void launcher_twoAtOnceOnAFreshTree_buildOnce() {
    List<Job> jobs = Stream.of("A", "B", "C")
        .map(
            name -> launch(Map.of(), "run", "lock", "sh", "-c", "echo start >>log; echo end >>log"))
        .toList();
    for (Job job : jobs) {
      assertThat(job.exitCode()).as(job::toString).isZero();
    }
    assertThat(processes.read("a tree/builds")).hasLineCount(1);
    assertThat(processes.read("log")).isEqualTo("start\nend\n".repeat(3));
  }

  @Test
  void launcher_builderWasKilled_buildsInItsPlace() throws IOException {
    Path cache = Files.createDirectories(root.resolve("holdfast-cli/target/launcher"));
    Job dead = processes.start(Map.of(), List.of("true"));
    assertThat(dead.exitCode()).isZero();
    Files.createSymbolicLink(cache.resolve("lock"), Path.of(Long.toString(dead.pid())));
    Job job = launch(Map.of(), "--version");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(processes.read("a tree/builds")).hasLineCount(1);
  }

  /** In a container the launcher has the same number at each start, and so had the one that was stopped while it built. */
  @ParameterizedTest
  @ValueSource(strings = {"$$", "$$.1"})
  void launcher_builderHadOurNumber_buildsInItsPlace(String owner) {
    Job job = processes.start(
        environment(Map.of()),
        List.of(
            "sh",
            "-c",
            "cd 'a tree' && mkdir -p holdfast-cli/target/launcher && ln -s \"" + owner
                + "\" holdfast-cli/target/launcher/lock && exec ./holdfast --version"));
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(processes.read("a tree/builds")).hasLineCount(1);
  }

  @Test
  void launcher_changedSources_buildsAgain() throws IOException {
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    changeSources();
    Job job = launch(Map.of(), "--version");
    assertThat(job.exitCode()).isZero();
    assertThat(job.stderr()).contains("building");
    assertThat(processes.read("a tree/builds")).hasLineCount(2);
    assertThat(apps()).as("the older build, which no process runs from").hasSize(1);
  }

  /** Loss, signals and the end of a run are loaded when they are needed, which may be days after the start. */
  @Test
  void launcher_buildsAgain_whatRunsKeepsItsJars() throws IOException {
    Job running = launch(
        Map.of(),
        "run",
        "lock",
        "sh",
        "-c",
        "echo $$ >run.pid; until [ -e go ]; do sleep 0.1; done");
    processes.pid("run.pid");
    changeSources();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    // what Maven does to its folders while it builds
    Files.writeString(root.resolve("holdfast-cli/target/holdfast-cli-1.jar"), "half of a jar");
    assertThat(apps()).hasSize(2);
    processes.touch("go");
    assertThat(running.exitCode()).as(running::toString).isZero();
    assertThat(running.stderr()).doesNotContain("Exception", "Error");
  }

  @Test
  void launcher_jarIsBuiltAgainByMaven_keepsItsArchive() throws IOException {
    assertThat(launch(ARCHIVING, "--version").exitCode()).isZero();
    Files.writeString(root.resolve("holdfast-cli/target/holdfast-cli-1.jar"), "of ./mvnw install");
    assertThat(launch(archiveRequired(), "--version").exitCode()).isZero();
  }

  @Test
  void launcher_treeThatWasMoved_findsItsJar() throws IOException {
    assertThat(launch(ARCHIVING, "--version").exitCode()).isZero();
    Path moved = processes.file("moved tree");
    Files.move(root, moved);
    root = moved;
    assertThat(launch(ARCHIVING, "--version").exitCode()).isZero();
    assertThat(launch(archiveRequired(), "--version").exitCode()).isZero();
    assertThat(processes.read("moved tree/builds")).hasLineCount(1);
  }

  @Test
  void launcher_treeThatWasCopied_runsWhatIsInTheCopy() throws IOException {
    assertThat(launch(ARCHIVING, "--version").exitCode()).isZero();
    Path copy = processes.file("copy");
    Job copying = processes.start(Map.of(), List.of("cp", "-a", root.toString(), copy.toString()));
    assertThat(copying.exitCode()).isZero();
    try (Stream<Path> jars =
        Files.find(root, 9, (path, is) -> is.isRegularFile() && path.toString().endsWith(".jar"))) {
      for (Path jar : jars.toList()) {
        Files.writeString(jar, "changed in the original since");
      }
    }
    root = copy;
    assertThat(launch(ARCHIVING, "--version").exitCode()).isZero();
    assertThat(launch(archiveRequired(), "--version").exitCode()).isZero();
    assertThat(processes.read("copy/builds")).hasLineCount(1);
  }

  /** With CDPATH a relative "cd" goes elsewhere, and prints where. */
  @Test
  void launcher_cdPathIsExported_findsItsTree() throws IOException {
    Files.createDirectories(processes.file("elsewhere/a tree"));
    Job job = processes.start(
        environment(Map.of("CDPATH", processes.file("elsewhere").toString())),
        List.of("a tree/holdfast", "--version"));
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).startsWith("holdfast ");
  }

  @Test
  void launcher_buildFails_showsWhyAndTriesAgainNextTime() throws IOException {
    processes.touch("a tree/broken");
    Job job = launch(Map.of(), "--version");
    assertThat(job.exitCode()).isEqualTo(70);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).contains("it does not compile").contains("the build failed");
    Files.delete(processes.file("a tree/broken"));
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
  }

  @Test
  void launcher_noJava_saysWhatToDo() {
    Job job = launch(Map.of("JAVA_HOME", "", "PATH", toolsWithoutJava()), "--version");
    assertThat(job.exitCode()).isEqualTo(69);
    assertThat(job.stderr()).startsWith("holdfast: no Java found; install a JDK, 17 or newer");
  }

  @Test
  void launcher_wrongJavaHome_saysSo() {
    Job job = launch(Map.of("JAVA_HOME", "/nowhere"), "--version");
    assertThat(job.exitCode()).isEqualTo(69);
    assertThat(job.stderr()).contains("JAVA_HOME is /nowhere, but there is no bin/java in it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.8.0_402", "11.0.2", "16"})
  void launcher_oldJava_saysSo(String version) throws IOException {
    Files.createDirectories(processes.file("jdk/bin"));
    processes.script(
        "jdk/bin/java", "echo \"openjdk version \\\"" + version + "\\\" 2020-01-01\" >&2");
    Job job = launch(Map.of("JAVA_HOME", processes.file("jdk").toString()), "--version");
    assertThat(job.exitCode()).isEqualTo(69);
    assertThat(job.stderr()).contains("Java 17 or newer is needed").contains("is " + version);
  }

  @Test
  void launcher_throughLinks_findsItsTree() throws IOException {
    Files.createSymbolicLink(processes.file("absolute"), root.resolve("holdfast"));
    Files.createSymbolicLink(processes.file("relative"), Path.of("absolute"));
    Job job = processes.start(environment(Map.of()), List.of("./relative", "--version"));
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).startsWith("holdfast ");
  }

  /** Without its tree there is nothing to build: it must not make folders beside itself. */
  @Test
  void launcher_thatWasCopiedAlone_saysSoAndMakesNothing() throws IOException {
    Path bin = Files.createDirectory(processes.file("bin"));
    Path copy = Files.copy(
        root.resolve("holdfast"), bin.resolve("holdfast"), StandardCopyOption.COPY_ATTRIBUTES);
    Files.createSymbolicLink(processes.file("link"), copy);
    for (String called : List.of("bin/holdfast", "./link")) {
      Job job = processes.start(environment(Map.of()), List.of(called, "--version"));
      assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
      assertThat(job.stdout()).isEmpty();
      assertThat(job.stderr())
          .isEqualTo("holdfast: " + copy
              + " is a copy of the launcher alone; link to it in the checkout instead: ln -s CHECKOUT/holdfast "
              + copy + "\n");
    }
    try (Stream<Path> files = Files.list(bin)) {
      assertThat(files).containsExactly(copy);
    }
  }

  @Test
  void launcher_arguments_arePassedAsTheyAre() {
    Job job = launch(
        Map.of(),
        "run",
        "a lock",
        "sh",
        "-c",
        "printf '<%s>' \"$HOLDFAST_LOCK\" \"$@\"; exit 3",
        "-",
        "a  b",
        "*",
        "");
    assertThat(job.exitCode()).isEqualTo(3);
    assertThat(job.stdout()).isEqualTo("<a lock><a  b><*><>");
  }

  private void changeSources() throws IOException {
    Path jar = root.resolve("holdfast-cli/target/launcher/jar");
    Files.setLastModifiedTime(
        root.resolve("holdfast-cli/src/main/A.java"),
        FileTime.fromMillis(Files.getLastModifiedTime(jar).toMillis() + 2000));
  }

  /** The folders that builds are kept in. */
  private List<Path> apps() throws IOException {
    try (Stream<Path> apps = Files.list(root.resolve("holdfast-cli/target/launcher"))) {
      return apps.filter(Files::isDirectory).toList();
    }
  }

  /** The JVM then does not start without its archive; nothing if our class path is of folders, which have no archive. */
  private static Map<String, String> archiveRequired() {
    Map<String, String> required = new HashMap<>(ARCHIVING);
    if (Program.hasArchive()) {
      required.put("HOLDFAST_JAVA_OPTIONS", "-Xshare:on");
    }
    return required;
  }

  private Job launch(Map<String, String> environment, String... arguments) {
    List<String> line = new ArrayList<>(List.of(root.resolve("holdfast").toString()));
    line.addAll(List.of(arguments));
    return processes.start(environment(environment), line);
  }

  private Map<String, String> environment(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(Tree.environment(processes));
    all.put("JAVA_HOME", processes.file("without archives").toString());
    all.putAll(more);
    return all;
  }

  /** A folder with the tools of the launcher up to where it looks for Java. */
  private String toolsWithoutJava() {
    try {
      Path tools = Files.createDirectory(processes.file("tools"));
      for (String tool :
          List.of("readlink", "dirname", "sed", "find", "mkdir", "ln", "rm", "touch", "mv")) {
        for (String folder : List.of("/usr/bin", "/bin")) {
          if (Files.exists(Path.of(folder, tool)) && !Files.exists(tools.resolve(tool))) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of(folder, tool));
          }
        }
      }
      return tools.toString();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
