// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

/** How long waits took: counted in buckets that are 1/16 of their power of two wide. Not thread-safe. */
public final class Waits {
  private static final int PARTS = 16;

  private final long[] counts = new long[64 * PARTS];
  private long total;
  private long max;

  /** Begins with none. */
  public Waits() {}

  /**
   * Counts one.
   *
   * @param nanos how long it took
   */
  public void add(long nanos) {
    counts[bucket(nanos)]++;
    total++;
    max = Math.max(max, nanos);
  }

  /**
   * Counts those of others, too.
   *
   * @param others what they counted
   */
  public void addAll(Waits others) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += others.counts[i];
    }
    total += others.total;
    max = Math.max(max, others.max);
  }

  /**
   * Returns what a part of all waits was not longer than.
   *
   * @param part of all, from 0 to 1
   * @return microseconds: the upper end of the bucket in which this part is reached; 0 if there were none
   */
  public double micros(double part) {
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen > 0 && seen >= part * (double) total) {
        return Math.min(upperEnd(i), (double) max) / 1e3;
      }
    }
    return maxMicros();
  }

  /**
   * Writes everything in one line, for another process.
   *
   * @return what {@link #decode} reads
   */
  public String encode() {
    StringBuilder line = new StringBuilder(Long.toString(max));
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        line.append(',').append(i).append(':').append(counts[i]);
      }
    }
    return line.toString();
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param line what it wrote
   * @return the waits
   */
  public static Waits decode(String line) {
    Waits waits = new Waits();
    String[] parts = line.split(",", -1);
    waits.max = Long.parseLong(parts[0]);
    for (int i = 1; i < parts.length; i++) {
      int colon = parts[i].indexOf(':');
      long count = Long.parseLong(parts[i].substring(colon + 1));
      waits.counts[Integer.parseInt(parts[i].substring(0, colon))] = count;
      waits.total += count;
    }
    return waits;
  }

  /**
   * Returns the longest.
   *
   * @return microseconds; 0 if there were none
   */
  public double maxMicros() {
    return max / 1e3;
  }

  private static int bucket(long nanos) {
    long value = Math.max(nanos, PARTS);
    int power = 63 - Long.numberOfLeadingZeros(value);
    return power * PARTS + (int) ((value >> (power - 4)) & (PARTS - 1));
  }

  private static double upperEnd(int bucket) {
    int power = bucket / PARTS;
    return Math.scalb(1 + (bucket % PARTS + 1) / (double) PARTS, power);
  }
}
