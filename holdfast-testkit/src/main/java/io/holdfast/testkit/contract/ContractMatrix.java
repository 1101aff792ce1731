// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.testkit.process.ServerOptions;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** What was run in this JVM, store by store; and what was not, with the reason. */
final class ContractMatrix {
  private static final Map<String, Row> ROWS = new TreeMap<>();

  private ContractMatrix() {}

  /** A file of the matrix, in the folder {@code contract} beside that of the test classes. */
  record Entry(Path file, String line, List<String> suites) {}

  /** One store. */
  private static final class Row {
    private final Path folder;
    private final String store;
    private final String about;
    private final TreeSet<String> suites = new TreeSet<>();
    private int tests;
    private int failures;

    Row(StoreContract contract, String about) {
      this.folder = folderOf(contract.getClass());
      this.store = contract.kind() + (ServerOptions.areOldest() ? "-oldest" : "");
      this.about = about;
    }

    Entry entry() {
      String line = String.format(Locale.ROOT, "%-21s %s", store, about);
      if (suites.isEmpty()) {
        return new Entry(folder.resolve(store + ".not-run"), line, List.of());
      }
      return new Entry(
          folder.resolve(store + ".txt"),
          line
              + String.format(
                  Locale.ROOT, " %3d suites, %4d tests, %d failed", suites.size(), tests, failures),
          List.copyOf(suites));
    }
  }

  /** A test of a suite begins on a store. */
  static synchronized void began(StoreContract contract, String suite, StoreUnderTest store) {
    Row row = ROWS.computeIfAbsent(
        contract.kind(),
        kind -> new Row(
            contract,
            String.format(Locale.ROOT, "%-24s %-16s", store.version(), store.provision())));
    row.suites.add(suite);
    row.tests++;
  }

  /** No store can be made. */
  static synchronized void notRun(StoreContract contract, String reason) {
    ROWS.computeIfAbsent(
        contract.kind(),
        kind -> new Row(contract, "NOT RUN: " + reason.strip().replaceAll("\\s*\\R\\s*", " ")));
  }

  /** A test failed. */
  static synchronized void failed(StoreContract contract) {
    Row row = ROWS.get(contract.kind());
    if (row != null) {
      row.failures++;
    }
  }

  static synchronized List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    ROWS.values().forEach(row -> entries.add(row.entry()));
    return entries;
  }

  /** Of the class that a store has, not of the suites, which are in this library. */
  private static Path folderOf(Class<?> contract) {
    try {
      return Path.of(
              contract.getProtectionDomain().getCodeSource().getLocation().toURI())
          .resolveSibling("contract");
    } catch (URISyntaxException e) {
      throw new IllegalStateException("no place for the matrix", e);
    }
  }
}
