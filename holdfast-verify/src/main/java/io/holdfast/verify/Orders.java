// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A worker's end of its pipes: facts go out, a line each; what comes in are orders, and the resource's answers. When the
 * pipe ends, so does the worker: whoever started it is gone.
 */
final class Orders {
  static final String DRAIN = "drain";
  static final String ANSWER = "= ";
  static final String WRITE = "write\t";
  static final int WRITE_FIELDS = 4;

  private final PrintStream out;
  private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  Orders(BufferedReader in, PrintStream out) {
    this.out = out;
    Thread reader = new Thread(() -> read(in), "holdfast-verify-orders");
    reader.setDaemon(true);
    reader.start();
  }

  private void read(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith(ANSWER)) {
          answers.add(line.substring(ANSWER.length()));
        } else {
          orders.add(line);
        }
      }
    } catch (IOException e) {
      System.getLogger(Orders.class.getName()).log(System.Logger.Level.DEBUG, "the pipe broke", e);
    }
    Runtime.getRuntime().halt(1);
  }

  /** Says what happened. */
  void say(Fact fact) {
    out.println(fact.toLine());
    out.flush();
  }

  /** Writes to the resources, and returns whether the guarded one took it. */
  boolean write(String lock, long hold, long token) throws InterruptedException {
    out.println(WRITE + lock + "\t" + hold + "\t" + token);
    out.flush();
    return Boolean.parseBoolean(answers.take());
  }

  /** Returns the next order; empty if none comes in that time. */
  String await(long nanos) throws InterruptedException {
    String order = orders.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
    return order == null ? "" : order;
  }
}
