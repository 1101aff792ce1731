// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

/** Sizes of files and of memory as people read them: {@code 24 KiB}, {@code 1.5 MiB}, {@code 72.9 GiB}. */
public final class SizeText {
  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  private SizeText() {}

  /**
   * Writes a size in the unit that fits: whole KiB rounded up, or tenths, cut off, of what is larger.
   *
   * @param bytes zero or more
   * @return for example {@code 24 KiB} or {@code 1.5 MiB}
   */
  public static String of(long bytes) {
    if (bytes < MIB) {
      return (bytes + KIB - 1) / KIB + " KiB";
    }
    boolean isGiant = bytes >= GIB;
    long unit = isGiant ? GIB : MIB;
    return bytes / unit + "." + bytes % unit * 10 / unit + (isGiant ? " GiB" : " MiB");
  }
}
