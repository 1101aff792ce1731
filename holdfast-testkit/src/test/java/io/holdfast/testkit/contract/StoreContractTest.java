// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** No cell of the matrix is missing: every suite is part of the contract, once, and has tests. */
class StoreContractTest {
  @Test
  void everyCompiledSuite_isNestedOnce() throws IOException, URISyntaxException {
    Path classes = Path.of(
            Contract.class.getProtectionDomain().getCodeSource().getLocation().toURI())
        .resolve("io/holdfast/testkit/contract");
    assertThat(classes).as("compiled classes, not a jar").isDirectory();
    List<String> compiled;
    try (Stream<Path> files = Files.list(classes)) {
      compiled = files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith("Contract.class") && !file.contains("$"))
          .map(file -> file.substring(0, file.length() - ".class".length()))
          .filter(name -> !Set.of("Contract", "StoreContract").contains(name))
          .toList();
    }
    assertThat(suites().map(suite -> suite.getSuperclass().getSimpleName()))
        .containsExactlyInAnyOrderElementsOf(compiled);
  }

  @Test
  void everySuite_hasTests() {
    suites()
        .forEach(suite -> assertThat(suite.getSuperclass().getDeclaredMethods())
            .as(suite.getSimpleName())
            .anyMatch(method -> method.isAnnotationPresent(Test.class)));
  }

  private static Stream<Class<?>> suites() {
    return Stream.of(StoreContract.class.getDeclaredClasses())
        .filter(each -> each.isAnnotationPresent(Nested.class));
  }
}
