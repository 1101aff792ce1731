// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FileFailuresTest {
  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(new NoSuchFileException("f"), "no such file"),
        Arguments.of(new AccessDeniedException("f"), "permission denied"),
        Arguments.of(new FileAlreadyExistsException("f"), "a file has this name"),
        Arguments.of(new MalformedInputException(1), "it is no text in UTF-8"),
        Arguments.of(new IOException("Is a directory"), "is a folder"),
        Arguments.of(new FileSystemException("f", null, "Is a directory"), "is a folder"),
        Arguments.of(
            new FileSystemException("f", null, "Not a directory"),
            "a part of the path is no folder"),
        Arguments.of(
            new FileSystemException("f", null, "Read-only file system"), "read-only file system"),
        Arguments.of(new IOException("No space left on device"), "no space left on device"),
        Arguments.of(new FileSystemException("f"), "f"),
        Arguments.of(new IOException(), "IOException"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void reason_inWords(IOException failure, String expected) {
    assertThat(FileFailures.reason(failure)).isEqualTo(expected);
  }

  @Test
  void lines_nameTheFile() {
    Path file = Path.of("a/b");
    assertThat(FileFailures.cannotRead(file, new NoSuchFileException("a/b")))
        .isEqualTo("cannot read a/b: no such file");
    assertThat(FileFailures.cannotWrite(file, new NoSuchFileException("a/b")))
        .isEqualTo("cannot write a/b: no such folder");
    assertThat(FileFailures.cannotWrite(file, new AccessDeniedException("a/b")))
        .isEqualTo("cannot write a/b: permission denied");
  }
}
