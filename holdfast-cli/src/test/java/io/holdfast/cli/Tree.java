// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A source tree with the launcher, in which "building" takes the {@link Program} and notes it in {@code builds}. */
final class Tree {
  private Tree() {}

  /** Makes one that was not built yet. A file {@code broken} in it makes builds fail. */
  static void make(Path root) throws IOException {
    Files.createDirectories(root.resolve("holdfast-core/src/main"));
    Files.createDirectories(root.resolve("holdfast-cli/src/main"));
    Path launcher = Path.of(System.getProperty("basedir", "."), "..", "holdfast");
    Executables.write(root.resolve("holdfast"), Files.readString(launcher));
    for (String file : List.of(
        "pom.xml",
        "holdfast-core/pom.xml",
        "holdfast-cli/pom.xml",
        "holdfast-cli/src/main/A.java")) {
      Files.writeString(root.resolve(file), "");
    }
    Executables.write(
        root.resolve("mvnw"),
        String.join(
            "\n",
            "#!/bin/sh",
            "echo \"built with $JAVA_HOME: $*\" >>builds",
            "[ ! -e broken ] || { echo 'it does not compile'; exit 1; }",
            "mkdir -p holdfast-cli/target",
            "ln -sfn '" + Program.jar().resolveSibling("lib") + "' holdfast-cli/target/lib",
            "cp '" + Program.jar() + "' holdfast-cli/target/holdfast-cli-1.jar",
            "cp '" + Program.jar() + "' holdfast-cli/target/holdfast-cli-1-sources.jar",
            ""));
  }

  /** Makes one that was used before; for tests that do not change it. */
  static Path makeBuilt() throws IOException {
    Path root = Files.createTempDirectory("holdfast tree").toRealPath();
    make(root);
    Path said = root.resolve("said");
    ProcessBuilder builder = new ProcessBuilder(root.resolve("holdfast").toString(), "--version")
        .redirectErrorStream(true)
        .redirectOutput(said.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Job job = new Job("--version", builder.start(), said, said);
    if (job.exitCode() != 0) {
      throw new IOException(job.toString());
    }
    return root;
  }

  /** What the launcher needs to know of the test that uses it. */
  static Map<String, String> environment(Processes processes) {
    return Map.of(
        "JAVA_HOME",
        System.getProperty("java.home"),
        "TMPDIR",
        processes.file("tmp").toString());
  }
}
