// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.time.Instant;
import java.util.List;

/**
 * What was run, for the report.
 *
 * @param store the store's name, without a password
 * @param began when the run began
 * @param versions what ran it and what it ran on, a line each: Holdfast, Java and the system, the server
 * @param command the command that repeats the run, without its password
 */
public record RunSetup(String store, Instant began, List<String> versions, String command) {
  /** Copies the list. */
  public RunSetup {
    versions = List.copyOf(versions);
  }
}
