// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The script of a {@link FaultyStore}: what goes wrong with which request, until {@link #heal()}.
 *
 * <pre>{@code
 * faults.on(Verb.ATTEMPT).once().loseReply(); // granted in the store, and nobody hears of it
 * faults.on(Verb.KEEP).fail(); // every renewal is refused from now on
 * faults.goSilent(); // the store is gone, without a word
 * faults.loseHold("order:42"); // somebody evicts the holder, who is told at once
 * }</pre>
 *
 * <p>The first rule that fits a request decides. Thread-safe.
 */
public final class Faults {
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Rule> rules = new ArrayList<>();
  private final List<Runnable> heldBack = new ArrayList<>();
  private int lettings;
  private final Map<Verb, Integer> requests = new ConcurrentHashMap<>();
  private volatile boolean silent;
  private volatile Runnable afterActions = () -> {};
  private @Nullable Consumer<String> holdLoser;
  private @Nullable Consumer<String> evictor;

  /** Made by {@link FaultyStore}. */
  Faults() {}

  /**
   * Begins a rule.
   *
   * @param first a kind of request
   * @param more further kinds
   * @return to be completed by what should happen
   */
  public Script on(Verb first, Verb... more) {
    return new Script(EnumSet.of(first, more));
  }

  /** Loses all requests, and all that the store would tell, from now on: a network that swallows everything. */
  public void goSilent() {
    silent = true;
  }

  /** Ends all faults. Requests that are held back are let through; what was lost stays lost. */
  public void heal() {
    silent = false;
    lock.lock();
    try {
      rules.clear();
    } finally {
      lock.unlock();
    }
    letThrough();
  }

  /** Lets the requests and replies through that {@link Script#holdBack()} has held back, in their order. */
  public void letThrough() {
    List<Runnable> late;
    lock.lock();
    try {
      late = List.copyOf(heldBack);
      heldBack.clear();
      lettings++;
    } finally {
      lock.unlock();
    }
    late.forEach(Runnable::run);
  }

  /**
   * Returns how many requests and replies are held back now.
   *
   * @return the number of those that {@link #letThrough()} would let through
   */
  public int heldBack() {
    lock.lock();
    try {
      return heldBack.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how many requests of one kind the engine has sent, whatever became of them.
   *
   * @param verb the kind
   * @return the number since the store was made
   */
  public int requests(Verb verb) {
    return requests.getOrDefault(verb, 0);
  }

  /**
   * Ends this client's hold in the store and tells the client at once, as a store does whose session has ended. The lock
   * is then free for others.
   *
   * @param lockName the lock
   * @throws AssertionError if this client does not hold it
   */
  public void loseHold(String lockName) {
    Objects.requireNonNull(holdLoser).accept(lockName);
    afterActions.run();
  }

  /**
   * Ends this client's hold in the store without a word to the client, as an operator's {@code release --force} does: it
   * learns of it at its next renewal.
   *
   * @param lockName the lock
   * @throws AssertionError if this client does not hold it
   */
  public void evict(String lockName) {
    Objects.requireNonNull(evictor).accept(lockName);
  }

  boolean isSilent() {
    return silent;
  }

  void useActions(Consumer<String> loseHold, Consumer<String> evict) {
    holdLoser = loseHold;
    evictor = evict;
  }

  /** Sets what is done after a loss that the test asked for. */
  void afterActions(Runnable work) {
    afterActions = work;
  }

  /** How often messages were let through so far. */
  int lettings() {
    lock.lock();
    try {
      return lettings;
    } finally {
      lock.unlock();
    }
  }

  /** Holds back a message that was to be held back when messages had been let through so often; not if they were since. */
  void holdBack(int since, Runnable message) {
    if (lettings() == since) {
      holdBack(message);
    } else {
      message.run();
    }
  }

  void holdBack(Runnable message) {
    lock.lock();
    try {
      heldBack.add(message);
    } finally {
      lock.unlock();
    }
  }

  /** Counts a request and says what is to happen with it. */
  Fate fate(Verb verb) {
    requests.merge(verb, 1, Integer::sum);
    if (silent) {
      return Fate.LOSE_REQUEST;
    }
    lock.lock();
    try {
      for (Rule rule : rules) {
        if (rule.verbs.contains(verb) && rule.left > 0) {
          rule.left--;
          return rule.fate;
        }
      }
      return Fate.NONE;
    } finally {
      lock.unlock();
    }
  }

  private void add(Rule rule) {
    lock.lock();
    try {
      rules.add(rule);
    } finally {
      lock.unlock();
    }
  }

  /** A rule that lacks its end. */
  public final class Script {
    private final Set<Verb> verbs;
    private int times = Integer.MAX_VALUE;

    private Script(Set<Verb> verbs) {
      this.verbs = verbs;
    }

    /**
     * Applies the rule to the next request only.
     *
     * @return this
     */
    public Script once() {
      return times(1);
    }

    /**
     * Applies the rule to some requests only.
     *
     * @param count how many
     * @return this
     */
    public Script times(int count) {
      times = count;
      return this;
    }

    /** Loses the request: it never reaches the store, and no answer comes. */
    public void loseRequest() {
      add(new Rule(verbs, times, Fate.LOSE_REQUEST));
    }

    /** Loses the reply: the store has done what was asked, and no answer comes. */
    public void loseReply() {
      add(new Rule(verbs, times, Fate.LOSE_REPLY));
    }

    /** Sends the request twice, as a network may; the second answer is lost. */
    public void duplicate() {
      add(new Rule(verbs, times, Fate.DUPLICATE));
    }

    /**
     * Delivers the request late.
     *
     * @param by how late, on the client's timer
     */
    public void delayRequest(Duration by) {
      add(new Rule(verbs, times, new Fate(Fate.Kind.DELAY_REQUEST, by, null, false)));
    }

    /**
     * Delivers the reply late.
     *
     * @param by how late, on the client's timer
     */
    public void delayReply(Duration by) {
      add(new Rule(verbs, times, new Fate(Fate.Kind.DELAY_REPLY, by, null, false)));
    }

    /** Keeps the request from the store until {@link Faults#letThrough()}. */
    public void holdBack() {
      add(new Rule(verbs, times, new Fate(Fate.Kind.HOLD_REQUEST, Duration.ZERO, null, false)));
    }

    /** Keeps the reply from the client until {@link Faults#letThrough()}. */
    public void holdBackReply() {
      add(new Rule(verbs, times, new Fate(Fate.Kind.HOLD_REPLY, Duration.ZERO, null, false)));
    }

    /** Fails at once, with nothing applied: the store cannot be reached. */
    public void fail() {
      fail(StoreUnavailableException.Reason.UNREACHABLE);
    }

    /**
     * Fails at once, with nothing applied.
     *
     * @param reason why
     */
    public void fail(StoreUnavailableException.Reason reason) {
      add(new Rule(verbs, times, new Fate(Fate.Kind.FAIL, Duration.ZERO, reason, true)));
    }

    /** Applies the request, then fails as a connection does that breaks before the answer: outcome unknown. */
    public void breakOff() {
      add(new Rule(
          verbs,
          times,
          new Fate(
              Fate.Kind.BREAK_OFF,
              Duration.ZERO,
              StoreUnavailableException.Reason.UNREACHABLE,
              false)));
    }
  }

  private static final class Rule {
    final Set<Verb> verbs;
    final Fate fate;
    int left;

    Rule(Set<Verb> verbs, int times, Fate fate) {
      this.verbs = verbs;
      this.left = times;
      this.fate = fate;
    }
  }

  /** What happens to one request. */
  record Fate(
      Kind kind,
      Duration by,
      StoreUnavailableException.@Nullable Reason reason,
      boolean notApplied) {
    static final Fate NONE = new Fate(Kind.NONE, Duration.ZERO, null, false);
    static final Fate LOSE_REQUEST = new Fate(Kind.LOSE_REQUEST, Duration.ZERO, null, false);
    static final Fate LOSE_REPLY = new Fate(Kind.LOSE_REPLY, Duration.ZERO, null, false);
    static final Fate DUPLICATE = new Fate(Kind.DUPLICATE, Duration.ZERO, null, false);

    enum Kind {
      NONE,
      LOSE_REQUEST,
      LOSE_REPLY,
      DUPLICATE,
      DELAY_REQUEST,
      DELAY_REPLY,
      HOLD_REQUEST,
      HOLD_REPLY,
      FAIL,
      BREAK_OFF
    }
  }
}
