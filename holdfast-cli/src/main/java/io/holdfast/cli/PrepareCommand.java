// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** For the launcher: unpacks SQLite's native library once, which its driver would otherwise do at each start. */
@Command(name = "prepare", hidden = true)
final class PrepareCommand implements Callable<Integer> {
  @Parameters
  Path folder = Path.of(".");

  @Override
  public Integer call() {
    try {
      // Asked by reflection: which driver is on the class path is not this module's business.
      Class<?> loader = Class.forName("org.sqlite.util.LibraryLoaderUtil");
      String path = (String) loader.getMethod("getNativeLibResourcePath").invoke(null);
      String name = (String) loader.getMethod("getNativeLibName").invoke(null);
      try (InputStream library = loader.getResourceAsStream(path + "/" + name)) {
        if (library == null) {
          throw new CliException(
              Exit.UNAVAILABLE, "SQLite's driver has no library for this platform: " + path);
        }
        Files.createDirectories(folder);
        Files.copy(library, folder.resolve(name));
      }
      return Exit.OK;
    } catch (ReflectiveOperationException e) {
      throw new CliException(
          Exit.UNAVAILABLE, "SQLite's driver is not there, or another version", e);
    } catch (IOException e) {
      throw new CliException(Exit.CANNOT_CREATE, FileFailures.cannotWrite(folder, e), e);
    }
  }
}
