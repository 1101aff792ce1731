// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Ticker;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A stderr that takes nothing until it is told to, as a stopped terminal does. */
final class StuckStream extends OutputStream {
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch flows = new CountDownLatch(1);
  private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
  private volatile @Nullable Thread writer;

  /** What writes to it. */
  Stderr stderr() {
    PrintStream stream = new PrintStream(this, true, StandardCharsets.UTF_8);
    return new Stderr(() -> stream, Ticker.system());
  }

  /** From now on it takes everything at once. */
  StuckStream flow() {
    flows.countDown();
    return this;
  }

  /** Waits until somebody writes. */
  void untilReached() {
    Await.until("somebody writes", () -> reached.getCount() == 0, () -> "nobody does");
  }

  /** What it has taken. */
  String taken() {
    return taken.toString(StandardCharsets.UTF_8);
  }

  /** Waits until the thread that wrote last has ended. */
  void untilWriterHasEnded() {
    Thread last = writer;
    Await.until("it has ended", () -> last != null && !last.isAlive(), () -> "thread " + last);
  }

  @Override
  public void write(int one) {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    writer = Thread.currentThread();
    reached.countDown();
    try {
      flows.await();
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts this thread", e);
    }
    taken.write(bytes, offset, length);
  }
}
