// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Says at the end of a test run which stores were put through which part of the contract: on standard output, and in a
 * file for each store, {@code contract/STORE.txt} beside the folder of the test classes. Says nothing where no suite ran.
 */
public final class MatrixPrinter implements TestExecutionListener {
  private final Map<String, Path> folders = new ConcurrentHashMap<>();

  /** Where several JVMs share the classes of a module, each class is a run of its own: what is said is not said again. */
  private final Map<String, String> said = new ConcurrentHashMap<>();

  /** For the service loader. */
  public MatrixPrinter() {}

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    test.getSource()
        .filter(MethodSource.class::isInstance)
        .map(source -> ((MethodSource) source).getJavaClass())
        .filter(run -> Suites.suiteOf(run).isPresent())
        .ifPresent(run -> {
          folders.computeIfAbsent("", none -> folderFor(run));
          if (result.getStatus() == TestExecutionResult.Status.FAILED) {
            Matrix.failed(run);
          }
        });
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    Path folder = folders.get("");
    if (folder == null) {
      return;
    }
    Matrix.rows().values().forEach(row -> {
      String line = line(row);
      if (line.equals(said.put(row.store, line))) {
        return;
      }
      System.out.println("[contract] " + line);
      write(folder.resolve(row.store + ".txt"), line + "\n" + String.join("\n", row.suites) + "\n");
    });
  }

  private static String line(Matrix.Row row) {
    return String.format(
        Locale.ROOT,
        "%-12s %-24s %-16s %3d suites, %4d tests, %d failed",
        row.store,
        row.version,
        row.provision,
        row.suites.size(),
        row.tests,
        row.failures);
  }

  private static Path folderFor(Class<?> run) {
    try {
      Path classes =
          Path.of(run.getProtectionDomain().getCodeSource().getLocation().toURI());
      return classes.resolveSibling("contract");
    } catch (URISyntaxException e) {
      throw new IllegalStateException("no place for the matrix", e);
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.resolveSibling("."));
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException("the matrix could not be written", e);
    }
  }
}
