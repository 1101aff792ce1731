// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The launcher {@code ./holdfast} in a source tree of the test's own, where "building" makes a jar of our class path. */
class LauncherTest {
  @RegisterExtension
  final Processes processes = new Processes();

  private Path root = Path.of("set before each test");

  @BeforeEach
  void makeTree() throws IOException {
    root = processes.file("a tree");
    Files.createDirectories(root.resolve("holdfast-core/src/main"));
    Files.createDirectories(root.resolve("holdfast-cli/src/main"));
    Files.copy(
        Path.of(System.getProperty("basedir", "."), "..", "holdfast"), root.resolve("holdfast"));
    for (String file : List.of(
        "pom.xml",
        "holdfast-core/pom.xml",
        "holdfast-cli/pom.xml",
        "holdfast-cli/src/main/A.java")) {
      Files.writeString(root.resolve(file), "");
    }
    makeJar(processes.file("ready.jar"));
    processes.script(
        "a tree/mvnw",
        "echo \"built with $JAVA_HOME: $*\" >>../builds",
        "[ ! -e ../broken ] || { echo 'it does not compile'; exit 1; }",
        "mkdir -p holdfast-cli/target",
        "cp ../ready.jar holdfast-cli/target/holdfast-cli-1.jar",
        "cp ../ready.jar holdfast-cli/target/holdfast-cli-1-sources.jar");
    root.resolve("holdfast").toFile().setExecutable(true);
  }

  @Test
  void launcher_firstUse_buildsOnceAndSaysSo() {
    Job first = launch(Map.of(), "--version");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(first.stdout()).startsWith("holdfast ");
    assertThat(first.stderr()).contains("holdfast: building; this happens on first use");
    assertThat(processes.read("builds"))
        .hasLineCount(1)
        .contains("-Dquick", "-pl holdfast-cli -am package");

    Job second = launch(Map.of(), "--version");
    assertThat(second.exitCode()).isZero();
    assertThat(second.stderr()).isEmpty();
    assertThat(processes.read("builds")).hasLineCount(1);
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
    assertThat(processes.read("builds")).hasLineCount(1);
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
    assertThat(processes.read("builds")).hasLineCount(1);
  }

  @Test
  void launcher_changedSources_buildsAgain() throws IOException {
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Path jar = root.resolve("holdfast-cli/target/launcher/jar");
    Files.setLastModifiedTime(
        root.resolve("holdfast-cli/src/main/A.java"),
        java.nio.file.attribute.FileTime.fromMillis(
            Files.getLastModifiedTime(jar).toMillis() + 2000));
    Job job = launch(Map.of(), "--version");
    assertThat(job.exitCode()).isZero();
    assertThat(job.stderr()).contains("building");
    assertThat(processes.read("builds")).hasLineCount(2);
  }

  @Test
  void launcher_buildFails_showsWhyAndTriesAgainNextTime() throws IOException {
    processes.touch("broken");
    Job job = launch(Map.of(), "--version");
    assertThat(job.exitCode()).isEqualTo(70);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).contains("it does not compile").contains("the build failed");
    Files.delete(processes.file("broken"));
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

  /** The shell gets its prompt back, the lock stays ours, and fg goes on where Ctrl-Z was typed. */
  @Test
  void ctrlZ_atAPrompt_stopsTheCommandAndKeepsTheLock() {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Job shell = prompt();
    shell.type(
        "'" + root + "/holdfast' run --lease 2s lock sh -c 'echo $$ >child.pid; cat; exit 6'\n");
    long child = processes.pid("child.pid");
    shell.type("one\n");
    shell.untilStdout("one\r\none\r\n");
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    Await.until(
        "the command is stopped", () -> Processes.state(child).equals("T"), processes::everything);
    // Over two leases long it is held, so somebody renews it.
    long end = System.nanoTime() + 5_000_000_000L;
    while (System.nanoTime() < end) {
      Job other = processes.holdfast("run", "-n", "-E", "3", "lock", "true");
      assertThat(other.exitCode()).as(other::toString).isEqualTo(3);
    }
    assertThat(Processes.state(child)).isEqualTo("T");
    shell.type("echo $((6 * 7))\n");
    shell.untilStdout("42");
    shell.type("fg\n");
    Await.until(
        "the command goes on", () -> !Processes.state(child).equals("T"), processes::everything);
    shell.type("two\n");
    shell.untilStdout("two\r\ntwo\r\n");
    shell.type(Pty.CTRL_D);
    processes.untilGone(child);
    shell.type("echo status=$?\n");
    shell.untilStdout("status=6");
    assertThat(processes.holdfast("run", "-n", "lock", "true").exitCode()).isZero();
  }

  /** Nothing is stopped in the background: the command that is continued there does not have the terminal. */
  @Test
  void ctrlZThenBg_atAPrompt_goesOnInTheBackground() {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Job shell = prompt();
    shell.type(
        "'" + root
            + "/holdfast' run lock sh -c 'echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done; echo done >>log'\n");
    long child = processes.pid("child.pid");
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    Await.until(
        "the command is stopped", () -> Processes.state(child).equals("T"), processes::everything);
    shell.type("bg\n");
    Await.until(
        "the command goes on", () -> !Processes.state(child).equals("T"), processes::everything);
    processes.touch("go");
    Await.until(
        "the command has ended",
        () -> processes.read("log").equals("done\n"),
        processes::everything);
    shell.type("wait; echo status=$?\n");
    shell.untilStdout("status=0");
  }

  /**
   * What Ctrl-Z and fg send may reach the JVM in another order than they were sent in. Here it gets the SIGCONT before the
   * SIGTSTP, while the job runs.
   */
  @Test
  void lateCtrlZ_afterTheJobWasContinued_doesNotStopTheCommand() {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    String script = processes.script(
        "script",
        "echo $$ >script.pid",
        "'" + root
            + "/holdfast' run lock sh -c 'echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done; exit 6'",
        "echo status=$?");
    Job shell = prompt();
    shell.type(script + "\n");
    long child = processes.pid("child.pid");
    long holdfast = ProcessHandle.of(processes.pid("script.pid"))
        .orElseThrow()
        .children()
        .findFirst()
        .orElseThrow()
        .pid();
    Processes.signal("CONT", holdfast);
    Processes.signal("TSTP", holdfast);
    assertThat(processes.holdfast("run", "-n", "lock", "true").exitCode()).isEqualTo(75);
    assertThat(Processes.state(child)).isNotEqualTo("T");
    processes.touch("go");
    shell.untilStdout("status=6");
  }

  /** Whatever has been started so far is stopped, and goes on with fg as if nothing had been. */
  @ParameterizedTest
  @ValueSource(strings = {"/java", "/mkfifo", "/bash"})
  void ctrlZ_whileStarting_goesOnWithFg(String started) {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Job shell = prompt();
    long prompt = shell.process().children().findFirst().orElseThrow().pid();
    shell.type("'" + root + "/holdfast' run lock sh -c 'echo $$ >child.pid; read x; exit 4'\n");
    Await.until(
        started + " was started, or it is too late to see it",
        () -> processes.file("child.pid").toFile().exists()
            || shell
                .process()
                .descendants()
                .filter(one -> one.pid() != prompt)
                .anyMatch(one -> one.info().command().orElse("").endsWith(started)),
        processes::everything);
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    shell.type("fg\n");
    processes.pid("child.pid");
    shell.type("hello\n");
    shell.untilStdout("hello");
    shell.type("echo status=$?\n");
    shell.untilStdout("status=4");
  }

  @Test
  void ctrlC_atAPrompt_endsTheCommand() {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Job shell = prompt();
    shell.type("'" + root + "/holdfast' run lock sh -c 'echo $$ >child.pid; exec sleep 600'\n");
    long child = processes.pid("child.pid");
    shell.type(Pty.CTRL_C);
    processes.untilGone(child);
    shell.type("echo status=$?\n");
    shell.untilStdout("status=130");
    assertThat(processes.holdfast("run", "-n", "lock", "true").exitCode()).isZero();
  }

  /** At a prompt, what was typed is a shell in front of the JVM. Who kills it means us. */
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "KILL"})
  void signalled_theShellInFront_endsTheCommand(String signal) {
    Pty.assumeAvailable();
    assertThat(launch(Map.of(), "--version").exitCode()).isZero();
    Job shell = prompt();
    shell.type(
        "'" + root
            + "/holdfast' run lock sh -c 'trap \"echo told >>log; exit\" TERM; echo $$ >child.pid; while :; do sleep 0.05; done' &\n");
    shell.type("echo $! >front.pid\n");
    long child = processes.pid("child.pid");
    Processes.signal(signal, processes.pid("front.pid"));
    processes.untilGone(child);
    assertThat(processes.read("log")).isEqualTo("told\n");
    assertThat(processes.holdfast("run", "-w", "10s", "lock", "true").exitCode())
        .isZero();
  }

  private Job prompt() {
    Job shell =
        Pty.start(processes, environment(Map.of()), List.of("bash", "--norc", "--noediting", "-i"));
    // in two parts, so that what is typed is not taken for what is shown
    shell.type("PS1='rea''dy> '\n");
    return shell.untilStdout("ready> ");
  }

  private Job launch(Map<String, String> environment, String... arguments) {
    List<String> line = new ArrayList<>(List.of(root.resolve("holdfast").toString()));
    line.addAll(List.of(arguments));
    return processes.start(environment(environment), line);
  }

  private Map<String, String> environment(Map<String, String> more) {
    Map<String, String> all = new java.util.HashMap<>(Map.of(
        "JAVA_HOME",
        System.getProperty("java.home"),
        "TMPDIR",
        processes.file("tmp").toString()));
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

  /** A jar that is nothing but a list of what we run with. */
  private static void makeJar(Path jar) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, "io.holdfast.cli.Main");
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toUri().toString())
            .collect(Collectors.joining(" ")));
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream closed = new JarOutputStream(out, manifest)) {
      closed.flush();
    }
  }
}
