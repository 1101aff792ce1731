// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The wall clock of a server of a test's own, which the test moves while the server runs; this machine's clock stays as
 * it is. It is a small library, {@code skew.c}, that the harness compiles and the server is started with.
 */
public final class SkewedClock {
  private final Path library;
  private final Path file;

  private SkewedClock(Path library, Path file) {
    this.library = library;
    this.file = file;
  }

  /**
   * Compiles the library, once for all tests of this machine. Without a C compiler, or on a system without {@code
   * LD_PRELOAD}, the test is not run; with {@code -Dholdfast.stores=required} it fails.
   *
   * @param folder where the file goes that tells the server how far its clock is off
   * @return a clock that is right
   */
  public static SkewedClock in(Path folder) {
    try {
      SkewedClock clock = new SkewedClock(library(), folder.resolve("skew"));
      clock.set(Duration.ZERO);
      return clock;
    } catch (IOException e) {
      throw new UncheckedIOException("no clock that can be moved", e);
    }
  }

  private static Path library() throws IOException {
    byte[] source;
    try (InputStream in = SkewedClock.class.getResourceAsStream("skew.c")) {
      if (in == null) {
        throw new IllegalStateException("the jar is incomplete: skew.c is missing");
      }
      source = in.readAllBytes();
    }
    Path folder = Files.createDirectories(ServerPrograms.cache().resolve("skew"));
    Path library = folder.resolve("skew-" + Integer.toHexString(java.util.Arrays.hashCode(source))
        + "-" + System.getProperty("os.arch") + ".so");
    if (!Files.exists(library)) {
      Path scratch = Files.createTempDirectory(folder, "compile");
      Path code = Files.write(scratch.resolve("skew.c"), source);
      Path made = scratch.resolve("skew.so");
      compile(List.of("cc", "-O2", "-fPIC", "-shared", "-o", made.toString(), code.toString()));
      // another build may do the same just now: either library is the right one
      Files.move(
          made, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      Files.delete(code);
      Files.delete(scratch);
    }
    return library;
  }

  private static void compile(List<String> command) {
    @Nullable String failure;
    try {
      Process compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
      failure = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (compiler.onExit().join().exitValue() == 0) {
        return;
      }
    } catch (IOException e) {
      failure = e.getMessage();
    }
    throw Needs.missing("a server's clock cannot be moved without a C compiler: " + failure);
  }

  /**
   * Returns what a server has to be started with.
   *
   * @return variables for its environment
   */
  public Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "HOLDFAST_SKEW", file.toString());
  }

  /**
   * Sets the server's clock, from its next reading on.
   *
   * @param ahead how far it is ahead of this machine's; negative if it is behind
   */
  public void set(Duration ahead) {
    ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    number.putLong(ahead.toNanos() / 1_000).flip();
    try (FileChannel to =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      // in place and at once: the server has it mapped
      to.write(number, 0);
    } catch (IOException e) {
      throw new UncheckedIOException("the clock could not be set", e);
    }
  }
}
