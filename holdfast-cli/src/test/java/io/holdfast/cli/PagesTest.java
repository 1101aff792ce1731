// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The commands of README and docs/cron.md, run as they stand there, on servers of ours in place of the pages'. Not run are the two of the
 * README that build (they are the first thing that each check does), and on docs/cron.md those that copy the tree to another machine.
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
