// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;

/**
 * Who made a claim, as the store shows it to people. Nothing here decides anything.
 *
 * @param client the client's name ({@link Holdfast.Builder#clientName})
 * @param host the machine's name
 * @param pid the process's number on that machine
 * @param thread the name of the thread that asked
 * @param note the note of the acquisition ({@link LockOptions#note()}), empty if there is none
 */
public record Holder(String client, String host, long pid, String thread, String note) {
  /** Checks that nothing is null. */
  public Holder {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(thread, "thread");
    Objects.requireNonNull(note, "note");
  }

  /**
   * Says who this is in one line.
   *
   * @return for example {@code billing (host a1, pid 4711, thread main): nightly run}
   */
  public String describe() {
    return client + " (host " + host + ", pid " + pid + ", thread " + thread + ")"
        + (note.isEmpty() ? "" : ": " + note);
  }
}
