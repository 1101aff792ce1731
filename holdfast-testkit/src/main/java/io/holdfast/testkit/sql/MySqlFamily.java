// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.testkit.process.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a MySQL and a MariaDB of our own have in common. Character set and isolation are the server's defaults. */
public abstract class MySqlFamily extends SqlServer {
  private static final List<String> SMALL = List.of(
      "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M", "--performance-schema=OFF");

  // A line for a statement. The first one is for MariaDB, which looks at no privileges while it is made.
  private static final String SETUP =
      String.format(Locale.ROOT, """
      FLUSH PRIVILEGES;
      CREATE DATABASE holdfast;
      CREATE USER 'holdfast'@'%%' IDENTIFIED BY '%s';
      GRANT ALL ON holdfast.* TO 'holdfast'@'%%';
      CREATE USER 'super'@'%%' IDENTIFIED BY '%s';
      GRANT ALL ON *.* TO 'super'@'%%' WITH GRANT OPTION;
      """, userPassword(), superuserPassword());

  MySqlFamily(String program, boolean movesItsClock, List<String> options) {
    super(program, movesItsClock, options);
  }

  final void startNew(String program) {
    DataFolder.copy(program, recipe(), this::initialise, data());
    start();
  }

  /** The disk lies over the folder of the database, which has no table yet. The logs stay where they are. */
  final void startNew(String program, String diskSize) {
    DataFolder.copy(program, recipe(), this::initialise, data());
    tablesOn(SmallDisk.on(data().resolve(DATABASE), diskSize));
    start();
  }

  private List<String> recipe() {
    List<String> recipe = new ArrayList<>(SMALL);
    recipe.add(SETUP);
    return recipe;
  }

  private void initialise(Path data, Path scratch) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("--no-defaults", "--datadir=" + data, "--tmpdir=" + scratch));
    arguments.addAll(SMALL);
    arguments.addAll(asRoot());
    initialise(arguments, Files.writeString(scratch.resolve("setup.sql"), SETUP));
    // each server has a name of its own
    Files.deleteIfExists(data.resolve("auto.cnf"));
  }

  /** Makes a data folder, and executes the statements of a file there. */
  abstract void initialise(List<String> arguments, Path statements);

  private static List<String> asRoot() {
    return ServerPrograms.isRoot() ? List.of("--user=root") : List.of();
  }

  private Path data() {
    return folder().resolve("data");
  }

  @Override
  final List<String> arguments(List<String> options) {
    List<String> arguments = new ArrayList<>(List.of(
        "--no-defaults",
        "--datadir=" + data(),
        // one that starts deletes what it takes for leftovers there, also another server's
        "--tmpdir=" + folder(),
        "--bind-address=127.0.0.1",
        "--port=" + port(),
        "--socket=" + folder().resolve("socket"),
        "--pid-file=" + folder().resolve("pid"),
        "--secure-file-priv=",
        "--innodb-flush-log-at-trx-commit=1",
        "--innodb-doublewrite=ON",
        "--skip-ssl",
        // eight tests side by side have several clients each
        "--max-connections=300",
        "--skip-name-resolve"));
    arguments.addAll(SMALL);
    arguments.addAll(asRoot());
    arguments.addAll(options);
    return arguments;
  }

  @Override
  public final String superuser() {
    return "super";
  }

  @Override
  public final String tables() {
    return "SELECT CONCAT('`', table_schema, '`.`', REPLACE(table_name, '`', '``'), '`') FROM information_schema.tables"
        + " WHERE table_schema = '" + DATABASE + "' AND table_type = 'BASE TABLE'";
  }
}
