// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** What is in the jars. Before the package phase there are none, and these tests say that they did not run. */
class ArtifactsTest {
  private static final long CORE_LIMIT = 300_000;
  private static final String DESCRIPTOR = "module-info.class";
  private static final String STORE = "META-INF/services/io.holdfast.spi.LockStoreFactory";

  /** Small enough that nobody has to think about it. */
  @Test
  void coreJar_staysSmall() throws IOException {
    Path core = jar("holdfast-core");
    assertThat(Files.size(core)).as("bytes of %s", core).isLessThan(CORE_LIMIT);
  }

  /** The licence asks for both files in every copy. */
  @Test
  void everyJar_carriesLicenceAndNotice() throws IOException {
    for (String name : List.of(
        "holdfast-core",
        "holdfast-jdbc",
        "holdfast-sqlite",
        "holdfast-redis",
        "holdfast-zookeeper",
        "holdfast-etcd",
        "holdfast-consul",
        "holdfast-testkit",
        "holdfast-measure",
        "holdfast-verify",
        "holdfast-cli")) {
      try (JarFile jar = new JarFile(jar(name).toFile())) {
        assertThat(jar.getEntry("META-INF/LICENSE")).as("LICENSE in %s", name).isNotNull();
        assertThat(jar.getEntry("META-INF/NOTICE")).as("NOTICE in %s", name).isNotNull();
      }
    }
  }

  /** Without a descriptor the name of the file would be the module's. */
  @Test
  void everyStore_hasAModuleName() throws IOException {
    for (String store : List.of("zookeeper", "etcd")) {
      try (JarFile jar = new JarFile(jar("holdfast-" + store).toFile())) {
        assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
            .isEqualTo("io.holdfast." + store);
      }
    }
  }

  /** The engine may change every day, because nobody outside can name it. */
  @Test
  void core_exportsTheApiTheSpiAndTheMemoryStore() throws IOException {
    ModuleDescriptor core = module("io.holdfast.core");
    assertThat(core.exports())
        .filteredOn(export -> !export.isQualified())
        .extracting(ModuleDescriptor.Exports::source)
        .containsExactlyInAnyOrder("io.holdfast", "io.holdfast.spi", "io.holdfast.memory");
  }

  /** The annotations of JSpecify are read by compilers; a program runs without them. */
  @Test
  void core_needsNothingButTheJdk() throws IOException {
    assertThat(module("io.holdfast.core").requires())
        .filteredOn(need -> !need.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC))
        .extracting(ModuleDescriptor.Requires::name)
        .allSatisfy(name -> assertThat(name).startsWith("java."));
  }

  private static Path jar(String artifact) throws IOException {
    for (URI location : roots()) {
      String path = location.getPath();
      if (path.contains("/" + artifact + "/") || path.contains("/" + artifact + "-")) {
        assumeTrue(path.endsWith(".jar"), () -> artifact + " is not packaged: run verify");
        return Path.of(location);
      }
    }
    throw new AssertionError(artifact + " is not on the class path");
  }

  /** The jars and folders that have a descriptor or, where a client library allows none, a store. */
  private static List<URI> roots() throws IOException {
    List<URI> roots = new ArrayList<>();
    for (String name : List.of(DESCRIPTOR, STORE)) {
      for (URL resource : resources(name)) {
        String text = resource.toString();
        String root = text.substring(0, text.length() - name.length());
        roots.add(
            URI.create(root.startsWith("jar:") ? root.substring(4, root.length() - 2) : root));
      }
    }
    return roots;
  }

  private static ModuleDescriptor module(String name) throws IOException {
    for (URL url : resources(DESCRIPTOR)) {
      try (InputStream in = url.openStream()) {
        ModuleDescriptor descriptor = ModuleDescriptor.read(in);
        if (descriptor.name().equals(name)) {
          return descriptor;
        }
      }
    }
    throw new AssertionError("no module " + name + " on the class path");
  }

  private static List<URL> resources(String name) throws IOException {
    return Collections.list(ArtifactsTest.class.getClassLoader().getResources(name));
  }
}
