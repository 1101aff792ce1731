// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * Ports for servers that come later, or never. They are below those that the system gives to whoever asks for any, which
 * may be given to somebody else before our server listens there, or while it is restarted. Each JVM has blocks of its own:
 * the first port of a block is listened on as long as the JVM lives.
 */
final class Ports {
  private static final int FIRST = 10_000;
  private static final int END = 32_000;
  private static final int BLOCK = 100;
  private static final List<ServerSocket> OURS = new ArrayList<>();
  private static int next = FIRST;

  private Ports() {}

  /** Returns one that this JVM was not given before, that no other JVM is given, and that nobody listens on. */
  static synchronized int next() throws IOException {
    while (next < END) {
      int port = next;
      if (port % BLOCK == 0) {
        next += takesBlock(port) ? 1 : BLOCK;
      } else {
        next++;
        if (isFree(port)) {
          return port;
        }
      }
    }
    throw new IOException("all ports from " + FIRST + " to " + END + " are taken");
  }

  /** The block is ours from now on if nobody listens on its first port. */
  private static boolean takesBlock(int port) {
    try {
      OURS.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
      return true;
    } catch (IOException e) {
      // another JVM's
      return false;
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket all = new ServerSocket(port, 1)) {
      return all.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
