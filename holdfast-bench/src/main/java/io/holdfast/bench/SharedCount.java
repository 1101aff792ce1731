// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.HandOver;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A number that several processes count up without any care: if two do so at once, one of the updates is lost. */
final class SharedCount implements HandOver.Count {
  private final MappedByteBuffer number;

  SharedCount(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      number = channel.map(MapMode.READ_WRITE, 0, Long.BYTES);
    }
  }

  @Override
  public void increment() {
    number.putLong(0, number.getLong(0) + 1);
  }

  @Override
  public long get() {
    return number.getLong(0);
  }
}
