// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dependencies point one way: a program to the API, a store to the SPI, the engine to both, and nothing to a store. */
class DependencyTest {
  private static final String ENGINE = "io.holdfast.engine..";
  private static final String[] STORES = {
    "io.holdfast.memory..",
    "io.holdfast.jdbc..",
    "io.holdfast.redis..",
    "io.holdfast.zookeeper..",
    "io.holdfast.etcd..",
    "io.holdfast.consul.."
  };
  private static final JavaClasses CLASSES = new ClassFileImporter().importPackages("io.holdfast");

  /** Stores are written against the SPI alone, so that anybody can write one. */
  @Test
  void stores_neverSeeTheEngine() {
    noClasses()
        .that()
        .resideInAnyPackage(STORES)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ENGINE)
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  /** What two stores share belongs to the SPI or nowhere. */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "jdbc", "redis", "zookeeper", "etcd", "consul"})
  void stores_neverSeeEachOther(String store) {
    String own = "io.holdfast." + store + "..";
    noClasses()
        .that()
        .resideInAPackage(own)
        .should()
        .dependOnClassesThat(resideInAnyPackage(STORES).and(not(resideInAPackage(own))))
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  /** The engine knows stores through the SPI only. */
  @Test
  void theEngineAndTheSpi_neverSeeAStore() {
    noClasses()
        .that()
        .resideInAnyPackage(ENGINE, "io.holdfast.spi..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(STORES)
        .check(CLASSES);
  }

  /** The command and the examples use what every program can use. */
  @Test
  void programs_neverSeeTheEngine() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.holdfast.cli..",
            "io.holdfast.examples..",
            "io.holdfast.measure..",
            "io.holdfast.verify..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ENGINE)
        .allowEmptyShould(true)
        .check(CLASSES);
  }
}
