// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.io.IOException;
import java.io.Serial;
import java.util.List;

/** A request that no agent has answered: what was met at each that was asked for it. Its cause was met at the last one. */
final class ConsulUnanswered extends IOException {
  @Serial
  private static final long serialVersionUID = 1L;

  private final transient List<Met> met;

  /**
   * What was met at an agent.
   *
   * @param agent its host and port
   * @param isOneOfSeveral whether the address has others, so that it has to be named
   * @param failure the failure of the request
   */
  record Met(String agent, boolean isOneOfSeveral, Throwable failure) {}

  /**
   * Makes one.
   *
   * @param met at least one
   */
  ConsulUnanswered(List<Met> met) {
    super(last(met));
    this.met = List.copyOf(met);
  }

  private static Throwable last(List<Met> met) {
    return met.get(met.size() - 1).failure;
  }

  /** Returns what was met at the last agent, which decides what the failure means. */
  Throwable last() {
    return last(met);
  }

  /** Returns what was met, in the order in which the agents were asked. */
  List<Met> met() {
    return met;
  }
}
