// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The source tree that this build was started in. */
final class Sources {
  /** Surefire starts tests in their module's folder. */
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private Sources() {}

  /** The modules' folders. */
  static List<Path> modules() throws IOException {
    try (Stream<Path> children = Files.list(ROOT)) {
      return children
          .filter(child -> Files.exists(child.resolve("pom.xml")))
          .sorted()
          .toList();
    }
  }

  /** Every Java source of all modules. */
  static List<Path> javaFiles() throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path module : modules()) {
      all.addAll(javaFiles(module));
    }
    return all;
  }

  /** Every Java source of a module, of the product and of its tests. */
  static List<Path> javaFiles(Path module) throws IOException {
    Path sources = module.resolve("src");
    if (!Files.isDirectory(sources)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(sources)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }
}
