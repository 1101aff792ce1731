// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.stream.Stream;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.sqlite.SQLiteJDBCLoader;

/**
 * What a number depends on, and nothing that tells whose machine it was.
 *
 * @param commit what was measured
 * @param trials what was done
 */
record Machine(String commit, Scale trials) {
  /** Without quotes or backslashes. */
  Stream<String> lines() {
    Runtime runtime = Runtime.getRuntime();
    return Stream.of(
        "commit " + commit,
        "Java " + System.getProperty("java.version") + ", " + System.getProperty("os.name") + " "
            + System.getProperty("os.arch") + ", " + runtime.availableProcessors() + " cores, heap "
            + (runtime.maxMemory() >> 20) + " MB",
        "sqlite-jdbc " + SQLiteJDBCLoader.getVersion() + ", Curator "
            + versionOf(InterProcessMutex.class),
        trials.trials() + " trials of " + trials.trial().toMillis() + " ms");
  }

  private static String versionOf(Class<?> type) {
    String version = type.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }
}
