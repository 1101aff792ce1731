// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Messages that take a millisecond each way, but for those that a script has something else in store for. */
final class ScriptedFates implements Fates {
  private static final long LATENCY = Setup.MILLI;

  private final List<Rule> rules = new ArrayList<>();

  private enum Aspect {
    REQUEST,
    COPY,
    STORE_WAIT,
    REPLY,
    FAILURE
  }

  /** Begins a rule for the next message of one kind, of one process. */
  Rule on(SimProcess process, Message message) {
    return new Rule(process, message);
  }

  private @Nullable Rule find(SimProcess process, Message message, Aspect aspect) {
    for (Rule rule : rules) {
      if (rule.fits(process, message, aspect)) {
        rule.left--;
        return rule;
      }
    }
    return null;
  }

  private long value(SimProcess process, Message message, Aspect aspect, long otherwise) {
    Rule rule = find(process, message, aspect);
    return rule == null ? otherwise : rule.value;
  }

  @Override
  public @Nullable Fault failure(SimProcess from, Message message) {
    return find(from, message, Aspect.FAILURE) == null ? null : Fault.BROKEN;
  }

  @Override
  public long request(SimProcess from, Message message) {
    return from.isCut() ? LOST : value(from, message, Aspect.REQUEST, LATENCY);
  }

  @Override
  public long again(SimProcess from, Message message) {
    return value(from, message, Aspect.COPY, NONE);
  }

  @Override
  public long storeWait(SimProcess from, Message message) {
    return value(from, message, Aspect.STORE_WAIT, 0);
  }

  @Override
  public long reply(SimProcess to, Message message) {
    return to.isCut() ? LOST : value(to, message, Aspect.REPLY, LATENCY);
  }

  /** What happens to messages of one kind; to the next one, unless it says otherwise. */
  final class Rule {
    private final SimProcess process;
    private final Message message;
    private Aspect aspect = Aspect.REQUEST;
    private int left = 1;
    private long from;
    private long until = Long.MAX_VALUE;
    private long value;

    private Rule(SimProcess process, Message message) {
      this.process = process;
      this.message = message;
    }

    private boolean fits(SimProcess whose, Message which, Aspect what) {
      long now = process.world.now;
      return left > 0
          && whose == process
          && which == message
          && what == aspect
          && now >= from
          && now < until;
    }

    /** Applies to the next one that is sent, or answered, from a time on. */
    Rule from(long millis) {
      from = millis * Setup.MILLI;
      return this;
    }

    /** Applies to all until a time. */
    Rule allUntil(long millis) {
      until = millis * Setup.MILLI;
      left = Integer.MAX_VALUE;
      return this;
    }

    private void add(Aspect what, long becomes) {
      aspect = what;
      value = becomes;
      rules.add(this);
    }

    void isLost() {
      add(Aspect.REQUEST, LOST);
    }

    void takes(long millis) {
      add(Aspect.REQUEST, millis * Setup.MILLI);
    }

    void waitsInTheStore(long millis) {
      add(Aspect.STORE_WAIT, millis * Setup.MILLI);
    }

    /** A second copy comes later than the first; its sender never hears of either. */
    void comesAgainAfter(long millis) {
      add(Aspect.COPY, millis * Setup.MILLI);
    }

    void replyIsLost() {
      add(Aspect.REPLY, LOST);
    }

    void replyTakes(long millis) {
      add(Aspect.REPLY, millis * Setup.MILLI);
    }

    /** Fails at once, as a connection does that breaks; the request is on its way all the same. */
    void breaks() {
      add(Aspect.FAILURE, 0);
    }
  }
}
