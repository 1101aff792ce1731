// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
  @TempDir
  private Path folder;

  private static void fill(Path data, String text) throws IOException {
    Files.writeString(Files.createDirectory(data).resolve("file"), text);
  }

  @Test
  void make_whileAnotherMakesIt_keepsOneOfThem() throws IOException {
    Path made = folder.resolve("made");
    DataFolder.make(
        (data, scratch) -> {
          fill(data, "second");
          DataFolder.make((other, unused) -> fill(other, "first"), made);
        },
        made);
    assertThat(made.resolve("file")).hasContent("first");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(made);
    }
  }

  @Test
  void make_thatFails_isTold_andLeavesNothing() throws IOException {
    assertThatThrownBy(() -> DataFolder.make(
            (data, scratch) -> {
              throw new AccessDeniedException("no");
            },
            folder.resolve("made")))
        .isInstanceOf(AccessDeniedException.class);
    assertThat(folder).isEmptyDirectory();
  }
}
