// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** What was run in this JVM: store by store, suite by suite. */
final class Matrix {
  private static final Map<String, Row> ROWS = new TreeMap<>();
  private static final Map<Class<?>, Row> BY_RUN = new HashMap<>();

  private Matrix() {}

  /** One store. */
  static final class Row {
    final String store;
    final String version;
    final String provision;
    final TreeSet<String> suites = new TreeSet<>();
    int tests;
    int failures;

    Row(StoreUnderTest store) {
      this.store = store.kind();
      this.version = store.version();
      this.provision = store.provision();
    }
  }

  /** A test of a suite begins on a store. */
  static synchronized void began(Class<? extends Contract> run, StoreUnderTest store) {
    Row row = ROWS.computeIfAbsent(store.kind(), kind -> new Row(store));
    Suites.suiteOf(run).ifPresent(suite -> row.suites.add(suite.getSimpleName()));
    row.tests++;
    BY_RUN.put(run, row);
  }

  /** A test of a run of a suite failed. */
  static synchronized void failed(Class<?> run) {
    Row row = BY_RUN.get(run);
    if (row != null) {
      row.failures++;
    }
  }

  static synchronized Map<String, Row> rows() {
    return new TreeMap<>(ROWS);
  }
}
