// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import org.jspecify.annotations.Nullable;

/** One thing happens to one message. */
final class OnceFates implements Fates {
  private static final long LATENCY = Setup.MILLI;
  private final @Nullable Fault fault;
  private final long at;
  private long requests;
  private long replies;

  OnceFates(@Nullable Fault fault, long at) {
    this.fault = fault;
    this.at = at;
  }

  private boolean isNow(Fault kind) {
    return fault == kind && requests == at;
  }

  @Override
  public @Nullable Fault failure(SimProcess from, Message message) {
    requests++;
    boolean now = message != Message.WRITE && (isNow(Fault.REFUSED) || isNow(Fault.BROKEN));
    return now ? fault : null;
  }

  @Override
  public long request(SimProcess from, Message message) {
    return isNow(Fault.LOST_REQUEST) ? LOST : LATENCY;
  }

  @Override
  public long again(SimProcess from, Message message) {
    return isNow(Fault.DUPLICATE) ? 0 : NONE;
  }

  @Override
  public long storeWait(SimProcess from, Message message) {
    return 0;
  }

  @Override
  public long reply(SimProcess to, Message message) {
    replies++;
    return fault == Fault.LOST_REPLY && replies == at ? LOST : LATENCY;
  }
}
