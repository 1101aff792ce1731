// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.Stores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which store a command uses: {@code --store}, else {@code HOLDFAST_STORE}, else a file of this user.
 *
 * @param uri its address; may hold a password
 * @param warnings what the user should know about how the address was given
 * @param isOurs whether it is the default file
 */
record StoreChoice(String uri, List<String> warnings, boolean isOurs) {
  private static final Pattern PASSWORD = Pattern.compile(
      "//[^/@]*:[^/@]+@|[?&;](holdfast\\.sentinel-)?(password|passwd|pwd)=[^&;]+",
      Pattern.CASE_INSENSITIVE);

  /** How long a store may take to answer a command that only looks, or to accept a connection at all. Tests on slow machines have more. */
  static final Duration PATIENCE = Duration.ofSeconds(Long.getLong("io.holdfast.cli.patience", 5));

  /** Copies the list. */
  StoreChoice {
    warnings = List.copyOf(warnings);
  }

  /** Connects in order to look. Nothing is created. */
  Holdfast look() {
    return look(existing());
  }

  /** Connects to what {@link #existing} gave: with more patience than a lock can have, since a person waits. */
  static Holdfast look(LockStore existing) {
    return patient().store(existing).build();
  }

  /** The store for a command that only looks. As long as the default file is not there, no locks are: an empty store stands for it. */
  LockStore existing() {
    return Stores.openExisting(isYetToCome() ? "memory:" : uri);
  }

  /** Begins a client whose caller is a person that waits, and not a lock that ends. */
  static Holdfast.Builder patient() {
    return Holdfast.builder().requestTimeout(PATIENCE).connectTimeout(PATIENCE.multipliedBy(2));
  }

  /** Whether it is the default file and that is not there: the first command that takes a lock makes it. */
  boolean isYetToCome() {
    return isOurs && Files.notExists(ourFile());
  }

  /** The default file, if it is the store. */
  Path ourFile() {
    return Path.of(uri.substring("sqlite:".length()));
  }

  /** For people, without a password. */
  @Override
  public String toString() {
    return StoreAddress.parse(uri).toString();
  }

  /**
   * Chooses.
   *
   * @param option the value of {@code --store}, or null
   * @param environment the process's environment
   * @param userHome the user's home folder as Java knows it; counts if the environment names none
   * @throws CliException if the variable is empty, a file that should hold the address cannot be read, or there is no
   *     folder for the default file
   */
  static StoreChoice of(@Nullable String option, Map<String, String> environment, String userHome) {
    if (option != null) {
      StoreChoice choice = given(option, "--store");
      if (!option.startsWith("@") && PASSWORD.matcher(option).find()) {
        return choice.warn(
            "the password in --store can be seen in the list of processes (ps); use --store @FILE or HOLDFAST_STORE");
      }
      return choice;
    }
    String variable = environment.get("HOLDFAST_STORE");
    if (variable != null) {
      return given(variable, "HOLDFAST_STORE");
    }
    return new StoreChoice("sqlite:" + defaultFile(environment, userHome), List.of(), true);
  }

  /** The default file; its folder may not be there yet. */
  private static Path defaultFile(Map<String, String> environment, String userHome) {
    return stateFolder(environment, userHome).resolve("holdfast").resolve("locks.db");
  }

  /**
   * A relative one would be another one in each working folder, and with it the locks: it is ignored, as the XDG specification says. Java has
   * "?" for a user without an entry in passwd, as many containers have, and does not look at HOME.
   */
  private static Path stateFolder(Map<String, String> environment, String userHome) {
    String state = environment.getOrDefault("XDG_STATE_HOME", "");
    if (state.startsWith("/")) {
      return Path.of(state);
    }
    String home = environment.getOrDefault("HOME", "");
    for (String each : List.of(home, userHome)) {
      if (each.startsWith("/")) {
        return Path.of(each, ".local", "state");
      }
    }
    throw new CliException(
        Exit.CANNOT_CREATE,
        "no folder for this user's locks: HOME is "
            + (home.isEmpty() ? "not set" : "\"" + home + "\", which is not absolute")
            + ", and the user has no home folder; set HOME or XDG_STATE_HOME, or choose a store with --store or"
            + " HOLDFAST_STORE");
  }

  /**
   * Makes the folder of the default file, for this user only.
   *
   * @throws CliException if that fails
   */
  static void makeFolder(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || (Files.isDirectory(folder) && Files.isWritable(folder))) {
      return;
    }
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (IOException e) {
      throw cannotMake(folder, FileFailures.reason(e));
    }
    if (!Files.isWritable(folder)) {
      throw cannotMake(folder, "this user may not write in it");
    }
  }

  private static CliException cannotMake(Path folder, String why) {
    return new CliException(
        Exit.CANNOT_CREATE,
        "cannot use the state folder " + folder + " (" + why
            + "); set XDG_STATE_HOME to another folder, or choose a store with --store or HOLDFAST_STORE");
  }

  private static StoreChoice given(String text, String from) {
    if (text.isBlank()) {
      throw new CliException(
          Exit.USAGE, from + " is empty; give an address such as sqlite:locks.db, or leave it out");
    }
    return text.startsWith("@")
        ? read(Path.of(text.substring(1)), from)
        : new StoreChoice(text, List.of(), false);
  }

  private static StoreChoice read(Path file, String from) {
    try {
      List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8).stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .toList();
      if (lines.size() != 1) {
        throw new CliException(
            Exit.USAGE,
            from + ": " + file + " must hold one address in one line; it has " + lines.size());
      }
      StoreChoice choice = new StoreChoice(lines.get(0), List.of(), false);
      return isPublic(file)
          ? choice.warn(file + " can be read by every user; chmod 600 it")
          : choice;
    } catch (IOException e) {
      throw new CliException(Exit.USAGE, from + ": " + FileFailures.cannotRead(file, e), e);
    }
  }

  private static boolean isPublic(Path file) throws IOException {
    return Files.getFileStore(file).supportsFileAttributeView("posix")
        && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
  }

  private StoreChoice warn(String warning) {
    List<String> more = new ArrayList<>(warnings);
    more.add(warning);
    return new StoreChoice(uri, more, isOurs);
  }
}
