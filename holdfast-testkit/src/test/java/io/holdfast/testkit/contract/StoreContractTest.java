// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The meta-test is worth something: it fails for each way in which a cell of the matrix can be missing. */
class StoreContractTest {
  /** Every suite that was compiled is in the list by which stores are judged. */
  @Test
  void everyCompiledSuite_isListed() throws IOException, URISyntaxException {
    Path classes = Path.of(
            Contract.class.getProtectionDomain().getCodeSource().getLocation().toURI())
        .resolve("io/holdfast/testkit/contract");
    assertThat(classes).as("compiled classes, not a jar").isDirectory();
    Set<String> compiled;
    try (Stream<Path> files = Files.list(classes)) {
      compiled = files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith("Contract.class") && !file.contains("$"))
          .map(file -> file.substring(0, file.length() - ".class".length()))
          .filter(name -> !Set.of("Contract", "StoreContract").contains(name))
          .collect(Collectors.toSet());
    }
    assertThat(Suites.all().stream().map(Class::getSimpleName))
        .containsExactlyInAnyOrderElementsOf(compiled);
  }

  /** Every suite has tests. */
  @Test
  void everySuite_hasTests() {
    for (Class<?> suite : Suites.all()) {
      assertThat(suite.getDeclaredMethods())
          .as(suite.getSimpleName())
          .anyMatch(method -> method.isAnnotationPresent(Test.class));
    }
  }

  /** The real thing is complete. */
  @Test
  void completeContract_passes() {
    assertThat(new MemoryContractTest().mistakes()).isEmpty();
  }

  /** A suite is missing; one is not run by JUnit; one is there that the store does not declare. */
  @Test
  void incompleteContract_fails() {
    assertThat(new Incomplete().mistakes())
        .contains("TokenContract is missing", "FairnessContract is missing")
        .anyMatch(mistake -> mistake.contains("Forgotten is not run"))
        .anyMatch(mistake -> mistake.contains("StallContract needs a capability"))
        .noneMatch(mistake -> mistake.contains("NamesContract"));
  }

  /** Not run by JUnit: nobody's nested class, no test class by its name. */
  private static final class Incomplete extends StoreContract {
    Incomplete() {
      super(MemoryUnderTest::new);
    }

    @Nested
    class Names extends NamesContract {
      Names() {
        super(MemoryUnderTest::new);
      }
    }

    @Nested
    class Stall extends StallContract {
      Stall() {
        super(MemoryUnderTest::new);
      }
    }

    @SuppressWarnings("UnusedNestedClass") // that is its mistake
    static class Forgotten extends TokenContract {
      Forgotten() {
        super(MemoryUnderTest::new);
      }
    }
  }
}
