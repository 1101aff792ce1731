// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Says at the end of a test run which stores were put through which part of the contract, and why one was not: on standard
 * output, and in a file for each store, {@code contract/STORE.txt} or {@code contract/STORE.not-run} beside the folder of
 * the test classes. Says nothing where no suite ran.
 */
public final class ContractMatrixPrinter implements TestExecutionListener {
  /** Where several JVMs share the classes of a module, each class is a run of its own: what is said is not said again. */
  private final Map<Path, String> said = new ConcurrentHashMap<>();

  /** For the service loader. */
  public ContractMatrixPrinter() {}

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    for (ContractMatrix.Entry entry : ContractMatrix.entries()) {
      if (!entry.line().equals(said.put(entry.file(), entry.line()))) {
        System.out.println("[contract] " + entry.line());
        write(entry.file(), entry.line() + "\n" + String.join("\n", entry.suites()) + "\n");
      }
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
