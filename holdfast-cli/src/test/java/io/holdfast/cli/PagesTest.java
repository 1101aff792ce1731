// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The commands of README, docs/cron.md and of docs/migrating.md's part on flock(1), run as they stand there, on servers of ours in place of the pages'. Not run are the two of the
 * README that build (they are the first thing that each check does), and on docs/cron.md those that copy the tree to another machine, and
 * on docs/operations.md the pipes into psql and mysql, whose statements are run. The unit of systemd is parsed.
 */
@Tag("stores")
class PagesTest {
  private static final Path ROOT = Path.of("..");
  private static final String ADDRESS = "@/etc/holdfast.store";

  @RegisterExtension
  final Processes processes = new Processes();

  @Test
  void firstScreen_doesWhatItSays() throws IOException {
    List<List<String>> lines = commands("README.md", "./holdfast ");
    assertThat(lines).hasSize(6);
    List<String> longer = new ArrayList<>(lines.get(0));
    assertThat(longer.set(longer.indexOf("sleep") + 1, "600")).isEqualTo("5");
    Job holder = run(longer);
    Await.until("the lock is held", () -> said(lines.get(2)).contains("nightly"), holder::toString);

    assertThat(run(lines.get(1)).exitCode()).isEqualTo(Exit.BUSY);
    assertThat(said(lines.get(2))).contains("nightly", "held by sleep");
    holder.signal("TERM");
    assertThat(holder.exitCode()).isEqualTo(143);

    Job onRedis = Processes.answered(() -> run(onOurs(lines.get(3))));
    assertThat(onRedis.exitCode()).as(onRedis::toString).isZero();
    // SchemesTest runs it
    assertThat(Files.readString(ROOT.resolve("docs/schemes.md")))
        .contains("\nholdfast " + String.join(" ", lines.get(4)) + "   # BROKEN");
    assertThat(lines.get(5)).containsExactly("run", "NAME", "--", "CMD");
  }

  @Test
  void cron_itsCommandsWork() throws IOException {
    List<List<String>> lines = commands("docs/cron.md", "holdfast ");
    assertThat(lines).hasSize(2);
    for (List<String> line : lines) {
      Job job = Processes.answered(() -> run(onOurs(line)));
      assertThat(job.exitCode()).as(job::toString).isZero();
    }
    assertThat(commands("docs/guide.md", "")).isEmpty();
    assertThat(commands("docs/faq.md", "")).isEmpty();
  }

  /** The help has the line of the page, without the folder of the program. */
  @Test
  void help_hasTheLineOfTheCrontab() throws IOException {
    String line = blocks("docs/cron.md", "crontab").get(0);
    assertThat(said(List.of("run", "--help")).replaceAll("\\s+", " "))
        .contains(line.substring(line.indexOf("holdfast run")));
  }

  /** Each line beside one of flock's runs its command, and ends as the table says while another process has the lock. */
  @Test
  void flock_itsLinesDoWhatTheyDid() throws IOException {
    List<MatchResult> rows = Pattern.compile(
            "(?m)^\\| `(flock [^|]+)` \\| `holdfast (run [^|]+)` \\|")
        .matcher(Files.readString(ROOT.resolve("docs/migrating.md")))
        .results()
        .toList();
    assertThat(rows).hasSize(7);
    for (MatchResult row : rows) {
      Job job = Processes.answered(() -> run(words(row.group(2))));
      assertThat(job.exitCode()).as(job::toString).isZero();
      assertThat(job.stdout()).isEqualTo("done\n");
    }
    Job holder = run(List.of("run", "nightly", "--", "sleep", "600"));
    Await.until(
        "the lock is held", () -> said(List.of("ls")).contains("nightly"), holder::toString);
    assertThat(busy(rows, "flock -n FILE").exitCode()).isEqualTo(75);
    assertThat(busy(rows, "flock -n FILE").stderr()).contains("held by sleep");
    assertThat(busy(rows, "flock -w 10 ").exitCode()).isEqualTo(75);
    assertThat(busy(rows, "flock -n -E 0 ").exitCode()).isZero();
    assertThat(busy(rows, "flock -n -E 0 ").stderr()).isEmpty();
    assertThat(run(List.of("run", "-n", "-E", "1", "nightly", "true")).exitCode())
        .isEqualTo(1);
  }

  private Job busy(List<MatchResult> rows, String flock) {
    MatchResult row = rows.stream()
        .filter(each -> each.group(1).startsWith(flock))
        .findFirst()
        .orElseThrow();
    Job job = Processes.answered(() -> run(words(row.group(2))));
    int unused = job.exitCode();
    assertThat(job.stdout()).as(job::toString).isEmpty();
    return job;
  }

  /** A line of the table as a shell reads it, with a command in its place. */
  private static List<String> words(String line) {
    return Pattern.compile("'([^']*)'|\\S+")
        .matcher(line.replace("NAME", "nightly"))
        .results()
        .map(word -> word.group(1) == null ? word.group() : word.group(1))
        .flatMap(word -> word.equals("COMMAND") ? Stream.of("echo", "done") : Stream.of(word))
        .map(word -> word.equals("LINE") ? "true && echo done" : word)
        .toList();
  }

  @Test
  void aScriptThatLocksItself_runsOnceUnderItsLock() throws IOException {
    String line = blocks("docs/migrating.md", "sh").stream()
        .filter(each -> each.contains(" exec holdfast run "))
        .findFirst()
        .orElseThrow();
    String program = processes.holdfastLine(List.of()).stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" ", "exec ", " \"$@\""));
    Path folder = Files.createDirectory(processes.file("bin"));
    Files.move(Path.of(processes.script("holdfast", program)), folder.resolve("holdfast"));
    String script =
        processes.script("nightly.sh", line, "echo \"$HOLDFAST_LOCK $HOLDFAST_TOKEN $*\"");
    Map<String, String> found = Map.of("PATH", folder + File.pathSeparator + System.getenv("PATH"));
    Job job = Processes.answered(() -> processes.start(found, List.of(script, "one", "two words")));
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).matches("nightly [0-9]+ one two words\n");
  }

  /** What a page's commands are without the program and the comment. */
  private static List<List<String>> commands(String page, String program) throws IOException {
    return blocks(page, "sh").stream()
        .filter(line -> line.startsWith(program))
        .map(line -> line.substring(program.length()).replaceAll(" {3,}#.*", ""))
        .map(line -> List.of(line.split(" ")))
        .toList();
  }

  /** The lines of all blocks in a language. */
  private static List<String> blocks(String page, String language) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean within = false;
    for (String line : Files.readAllLines(ROOT.resolve(page))) {
      if (line.startsWith("```")) {
        within = line.equals("```" + language);
      } else if (within) {
        lines.add(line);
      }
    }
    return lines;
  }

  private Job run(List<String> line) {
    return processes.holdfast(line.toArray(String[]::new));
  }

  /** What a command has printed, when it has ended. */
  private String said(List<String> line) {
    Job job = Processes.answered(() -> run(line));
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }

  private List<String> onOurs(List<String> line) {
    return line.stream()
        .map(word -> switch (word) {
          case ADDRESS -> "@" + addressFile();
          case "redis://localhost:6379" -> RedisTopology.SINGLE.uri();
          default -> word;
        })
        .toList();
  }

  private Path addressFile() {
    try {
      Path file = processes.file("holdfast.store");
      Files.writeString(file, SqlKind.POSTGRESQL.shared().storeUri() + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
