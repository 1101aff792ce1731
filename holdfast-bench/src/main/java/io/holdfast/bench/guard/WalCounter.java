// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts what a SQLite file's write-ahead log has: pages that were written, and transactions. The log may be read beside its
 * users; the file itself may not, since closing it would drop their locks. When the log begins anew the counts fall.
 */
record WalCounter(Path log) implements Counter {
  private static final int FRAME_HEADER = 24;

  @Override
  public Map<String, Long> now() {
    long pages = 0;
    long commits = 0;
    try (InputStream bytes = Files.newInputStream(log);
        DataInputStream in = new DataInputStream(new BufferedInputStream(bytes))) {
      in.skipNBytes(8);
      int pageSize = in.readInt();
      in.skipNBytes(4);
      long salt = in.readLong();
      in.skipNBytes(8);
      while (true) {
        in.skipNBytes(4);
        boolean isLast = in.readInt() != 0;
        if (in.readLong() != salt) {
          // left over from before it began anew
          break;
        }
        in.skipNBytes(FRAME_HEADER - 16L + pageSize);
        pages++;
        commits += isLast ? 1 : 0;
      }
    } catch (EOFException e) {
      // that was all
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("transactions", commits);
    counts.put("pages written", pages);
    return counts;
  }
}
