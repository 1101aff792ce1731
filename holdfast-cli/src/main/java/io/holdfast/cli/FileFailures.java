// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;

/** Says in words why a file cannot be used; Java says it with the name of a class. */
final class FileFailures {
  private FileFailures() {}

  /** For example {@code cannot read a.txt: permission denied}. */
  static String cannotRead(Path file, IOException failure) {
    return "cannot read " + file + ": " + reason(failure);
  }

  /** For example {@code cannot write a/b.html: no such folder}. */
  static String cannotWrite(Path file, IOException failure) {
    return "cannot write " + file + ": " + reasonToCreate(failure);
  }

  /** Only why, for a file or folder that was to be created: then what is missing is the folder around it. */
  static String reasonToCreate(IOException failure) {
    return failure instanceof NoSuchFileException ? "no such folder" : reason(failure);
  }

  /** Only why, without the file's name. */
  static String reason(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return "no such file";
    }
    if (failure instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "a file has this name";
    }
    if (failure instanceof CharacterCodingException) {
      return "it is no text in UTF-8";
    }
    String system = failure instanceof FileSystemException file && file.getReason() != null
        ? file.getReason()
        : failure.getMessage();
    if (system == null || system.isEmpty()) {
      return failure.getClass().getSimpleName();
    }
    String words = system.substring(0, 1).toLowerCase(Locale.ROOT) + system.substring(1);
    return switch (words) {
      case "is a directory" -> "is a folder";
      case "not a directory" -> "a part of the path is no folder";
      default -> Failures.oneLine(words);
    };
  }
}
