// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.Needs;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said when a file cannot be used: the cause, and what to do, on one line. */
class SqliteConnectionErrorsTest {
  private static final List<String> WITHOUT_ROOTS_RIGHT =
      List.of("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search");

  @TempDir
  private Path folder;

  /** What a process without root's right over all files is told, a line for each file. */
  private List<String> told(Path... files) throws Exception {
    List<String> line = new ArrayList<>(ServerPrograms.isRoot() ? WITHOUT_ROOTS_RIGHT : List.of());
    String[] names = new String[files.length];
    for (int i = 0; i < files.length; i++) {
      names[i] = files[i].toString();
    }
    line.addAll(JavaProgram.commandLine(64, SqliteLocker.class, names));
    Path said = folder.resolve("said");
    Process process = new ProcessBuilder(line)
        .redirectOutput(said.toFile())
        // what is logged besides
        .redirectError(folder.resolve("log").toFile())
        .start();
    assertThat(process.waitFor()).isZero();
    return Files.readString(said, StandardCharsets.UTF_8)
        .lines()
        .map(each -> each.replace(folder.toString(), "FOLDER"))
        .toList();
  }

  private Path file(String name, String mode) throws IOException {
    Path file = folder.resolve(name);
    try (Client client = new Client(file)) {
      client.connect();
    }
    mode(file, mode);
    return file;
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  @Test
  void whatIsThereInstead() throws Exception {
    Path notes = Files.writeString(folder.resolve("notes.txt"), "just notes\n".repeat(100));
    Path other = folder.resolve("other.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + other);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE customer (id INTEGER)");
    }
    needsARight();
    assertThat(told(folder.resolve("no/locks.db"), folder, notes, other))
        .containsExactly(
            "sqlite:FOLDER/no/locks.db: the folder FOLDER/no does not exist; make it first (mkdir -p), or correct the path",
            "sqlite:FOLDER is a folder; name a file in it, for example sqlite:FOLDER/locks.db",
            "store sqlite:FOLDER/notes.txt: this is no SQLite file; name another path, or move the file away. It was left untouched",
            "store sqlite:FOLDER/other.db: the file is a database of another program; name a file of its own for the locks. It was left untouched");
  }

  @Test
  void whatMayNotBeWritten() throws Exception {
    needsARight();
    Path readOnly = file("read-only.db", "r--r--r--");
    Path unreadable = file("unreadable.db", "---------");
    Path below = Files.createDirectory(folder.resolve("below"));
    Path inside = file("below/locks.db", "rw-rw-rw-");
    mode(below, "r-xr-xr-x");
    try {
      String advice =
          "; the file and its folder must be writable by this user (SQLite keeps a -wal and a -shm file beside it):"
              + " change owner or mode, or choose another file";
      assertThat(told(readOnly, unreadable, inside, below.resolve("new.db")))
          .containsExactly(
              "store sqlite:FOLDER/read-only.db: [SQLITE_READONLY] Attempt to write a readonly database (attempt to write a readonly database)"
                  + advice,
              "store sqlite:FOLDER/unreadable.db: [SQLITE_CANTOPEN] Unable to open the database file (unable to open database file)"
                  + "; the file, or the -wal and -shm files beside it, cannot be opened: this user must be able to write the file and in its folder",
              "store sqlite:FOLDER/below/locks.db: [SQLITE_READONLY_DIRECTORY] Process does not have permission to create a journal file"
                  + " in the same directory as the database and the creation of a journal file is a prerequisite for writing"
                  + " (attempt to write a readonly database)" + advice,
              "store sqlite:FOLDER/below/new.db: this user may not make files in FOLDER/below; change the folder's owner or mode, or choose another place");
    } finally {
      mode(below, "rwxrwxrwx");
    }
  }

  private static void needsARight() throws InterruptedException {
    Needs.that(
        !ServerPrograms.isRoot() || canDropIt(),
        "files that may not be written are not tested: root, and no setpriv of util-linux that takes rights away");
  }

  private static boolean canDropIt() throws InterruptedException {
    List<String> line = new ArrayList<>(WITHOUT_ROOTS_RIGHT);
    line.add("true");
    try {
      return new ProcessBuilder(line).start().waitFor() == 0;
    } catch (IOException e) {
      // no such command
      return false;
    }
  }
}
