// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.CanBeAnnotated;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Tags;
import org.junit.jupiter.api.Test;

/**
 * The tier of a test class is a tag: none is tier "fast", which needs nothing but a JDK. CONTRIBUTING.md says what belongs
 * where.
 */
class TiersTest {
  private static final Path BUILD =
      Path.of(System.getProperty("holdfast.buildDirectory", "target"));

  /** What starts a server's program, or another that not every machine has. */
  private static final Set<String> SERVERS = Set.of(
      "io.holdfast.testkit.process.ServerProcess", "io.holdfast.testkit.process.ServerPrograms");

  /** "matrix" is in every tier; what is "oldest" is run once more by tier "all", on the oldest supported servers. */
  private static final Set<Set<String>> TIERS = Set.of(
      Set.of(),
      Set.of("stores"),
      Set.of("stores", "oldest"),
      Set.of("fast", "stores"),
      Set.of("all"),
      Set.of("matrix"));

  /** What reaches for a server's program, and need not find it. */
  private static final Map<String, String> WITHOUT_A_SERVER = Map.ofEntries(
      Map.entry(
          "io.holdfast.cli.Processes",
          "can start a server, for those of its users that have a tag"),
      Map.entry("io.holdfast.bench.ChartsTest", "draws what was measured before"),
      Map.entry("io.holdfast.verify.CrewTest", "asks whether a process has ended"),
      Map.entry("io.holdfast.testkit.sql.DataFolderTest", "fills the folder itself"),
      Map.entry("io.holdfast.examples.LockConfigurationTest", "has its server from Maven"),
      Map.entry("io.holdfast.examples.OneDependencyTest", "has its server from Maven"),
      Map.entry("io.holdfast.jdbc.MissingServersTest", "is about servers that are not there"),
      Map.entry("io.holdfast.jdbc.SqliteConnectionErrorsTest", "asks whether root runs it"),
      Map.entry("io.holdfast.jdbc.SqliteDeathTest", "asks whether root runs it"),
      Map.entry("io.holdfast.jdbc.SqliteUsersTest", "asks whether root runs it"),
      Map.entry("io.holdfast.zookeeper.ZooKeeperContractTest", "has its server from Maven"));

  private static final JavaClasses CLASSES = new ClassFileImporter().importPaths(folders());

  private static List<Path> folders() {
    try {
      return Sources.modules().stream()
          .map(module -> module.resolve(BUILD))
          .flatMap(built -> Stream.of(built.resolve("test-classes"), built.resolve("classes")))
          .filter(Files::isDirectory)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyClassThatNeedsAServer_hasATier() {
    List<String> untagged = testClasses().stream()
        .filter(each -> tags(each).isEmpty() && reachesAServer(each))
        .map(JavaClass::getName)
        .toList();
    assertThat(untagged)
        .as("need a server, and have no @Tag(\"stores\") or @Tag(\"all\")")
        .isEmpty();
  }

  /** A misspelt one would be in no tier; and a class is in one as a whole. */
  @Test
  void everyTag_isATierOfItsClass() {
    assertThat(testClasses())
        .hasSizeGreaterThan(250)
        .allSatisfy(
            each -> assertThat(Set.copyOf(tags(each))).as(each.getName()).isIn(TIERS));
    assertThat(CLASSES)
        .filteredOn(each -> each.getMethods().stream().anyMatch(TiersTest::isTagged)
            || (each.isNestedClass() && isTagged(each)))
        .as("a tag that is not on a class of its own file")
        .isEmpty();
  }

  private static boolean isTagged(CanBeAnnotated each) {
    return each.isAnnotatedWith(Tag.class) || each.isAnnotatedWith(Tags.class);
  }

  private static List<JavaClass> testClasses() {
    return CLASSES.stream()
        .filter(each -> each.getSimpleName().endsWith("Test") && !each.isNestedClass())
        .filter(each -> !each.getSimpleName().endsWith("UnderTest"))
        .toList();
  }

  private static List<String> tags(JavaClass test) {
    List<String> tags = new ArrayList<>();
    for (JavaClass each = test; each != null; each = each.getRawSuperclass().orElse(null)) {
      each.tryGetAnnotationOfType(Tag.class).ifPresent(tag -> tags.add(tag.value()));
      each.tryGetAnnotationOfType(Tags.class)
          .ifPresent(all -> Stream.of(all.value()).forEach(tag -> tags.add(tag.value())));
    }
    return tags;
  }

  private static boolean reachesAServer(JavaClass test) {
    Set<JavaClass> seen = new HashSet<>();
    Deque<JavaClass> open = new ArrayDeque<>(List.of(test));
    while (!open.isEmpty()) {
      JavaClass each = open.pop();
      if (SERVERS.contains(each.getName())) {
        return true;
      }
      if (seen.add(each) && !WITHOUT_A_SERVER.containsKey(each.getName())) {
        CLASSES.stream()
            .filter(inner -> inner.getEnclosingClass().filter(each::equals).isPresent())
            .forEach(open::push);
        each.getDirectDependenciesFromSelf().stream()
            .map(Dependency::getTargetClass)
            .filter(target -> CLASSES.contain(target.getName()))
            .forEach(open::push);
      }
    }
    return false;
  }
}
