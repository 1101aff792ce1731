// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A store's users get the versions that its tests had, though what a library manages does not reach its users: what is
 * installed names all of them. Families whose members call each other inside are looked at here.
 */
class InstalledPomsTest {
  private static final Path BUILD =
      Path.of(System.getProperty("holdfast.buildDirectory", "target"));

  private static final Pattern DEPENDENCY = Pattern.compile(
      "<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)</version>");

  /** The last one is brought by a driver alone: it is not among the module's own. */
  @ParameterizedTest
  @CsvSource({
    "redis, io.netty, netty, netty-codec-dns",
    "etcd, io.netty, netty, netty-codec-http2",
    "etcd, io.grpc, grpc, grpc-core",
    "etcd, com.google.guava, guava, guava",
    "etcd, org.jspecify, jspecify, jspecify",
    "redis, org.jspecify, jspecify, jspecify",
    "zookeeper, org.jspecify, jspecify, jspecify",
    "zookeeper, io.netty, netty, netty-handler",
    "zookeeper, org.apache.zookeeper, zookeeper, zookeeper-jute",
    "cli, io.netty, netty, netty-codec-http2"
  })
  void installedPom_namesOneVersionOfAFamily(
      String module, String group, String property, String transitive) throws IOException {
    Map<String, String> versions = dependencies(module, group);

    assertThat(versions).containsKey(transitive);
    Set<String> distinct = new TreeSet<>(versions.values());
    assertThat(distinct).as("%s", versions).containsExactly(property(property));
  }

  /** A program with two stores gets one version of what both bring. */
  @Test
  void installedPoms_agree() throws IOException {
    SortedMap<String, Set<String>> versions = new TreeMap<>();
    for (String module : List.of("jdbc", "redis", "zookeeper", "etcd", "consul", "testkit")) {
      Matcher dependencies = DEPENDENCY.matcher(pom(module));
      while (dependencies.find()) {
        versions
            .computeIfAbsent(
                dependencies.group(1) + ":" + dependencies.group(2), key -> new TreeSet<>())
            .add(dependencies.group(3));
      }
    }
    assertThat(versions).hasSizeGreaterThan(30);
    assertThat(versions).allSatisfy((artifact, all) -> assertThat(all).hasSize(1));
  }

  private static String pom(String module) throws IOException {
    return Files.readString(
        Sources.ROOT.resolve("holdfast-" + module).resolve(BUILD).resolve("installed-pom.xml"));
  }

  private static Map<String, String> dependencies(String module, String group) throws IOException {
    SortedMap<String, String> versions = new TreeMap<>();
    Matcher dependencies = DEPENDENCY.matcher(pom(module));
    while (dependencies.find()) {
      // Those of BoringSSL have numbers of their own, and guava's marker says only that it is empty.
      if (dependencies.group(1).equals(group)
          && !dependencies.group(2).startsWith("netty-tcnative")
          && !Set.of("failureaccess", "listenablefuture").contains(dependencies.group(2))) {
        versions.put(dependencies.group(2), dependencies.group(3));
      }
    }
    return versions;
  }

  private static String property(String name) throws IOException {
    Matcher property = Pattern.compile("<" + name + "\\.version>([^<]+)<")
        .matcher(Files.readString(Sources.ROOT.resolve("pom.xml")));
    assertThat(property.find()).as("the version of %s in pom.xml", name).isTrue();
    return property.group(1);
  }
}
