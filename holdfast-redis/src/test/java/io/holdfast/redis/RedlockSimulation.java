// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.redis.ClaimVotes.AskVote;
import io.holdfast.redis.ClaimVotes.Failed;
import io.holdfast.redis.ClaimVotes.Granted;
import io.holdfast.redis.ClaimVotes.Order;
import io.holdfast.redis.ClaimVotes.TellEnd;
import io.holdfast.redis.ClaimVotes.Wake;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.redis.RedlockVote.Kind;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Clients and nodes in simulated time, from a seed: requests and answers take time, more than a request may take too, get
 * lost and overtake each other; nodes stand still, restart empty, are flushed, and have clocks of their own, set apart by
 * almost half of the reach. The clients' votes are the production code, {@link ClaimVotes}. What was granted, and what is
 * left of a claim that was ended, is judged in true time.
 */
final class RedlockSimulation {
  private static final int NODES = 5;
  private static final int CLIENTS = 4;
  private static final long SECOND = 1_000_000;
  private static final long END = 60 * SECOND;
  private static final long TIME_OUT = SECOND / 10;
  private static final Duration REACH = Duration.ofSeconds(2);
  private static final String NAME = "x";
  private static final int MOST_ATTEMPTS = 4;
  private static final RedlockVote UNKNOWN_VOTE =
      RedlockVote.failed(new IllegalStateException("not answered"), false);

  private final RedlockRule rule;
  private final Random random;
  private final RedlockFlaw flaw;
  private final List<RedlockModelNode> nodes = new ArrayList<>();
  private final long[] skew = new long[NODES];
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  private final List<Client> holders = new ArrayList<>();
  private final long[] stalledUntil = new long[NODES];
  private long now = 1_000 * SECOND;
  private long order;
  private long lastToken;
  private int runs;

  /** What happened. */
  final List<String> violations = new ArrayList<>();

  int grants;

  /** Of the grants, those that took more than one attempt. */
  int lateGrants;

  private record Task(long at, long order, Runnable work) {}

  RedlockSimulation(long seed, RedlockFlaw flaw, Duration maxLease) {
    this.rule = new RedlockRule(NODES, maxLease, REACH);
    this.random = new Random(seed);
    this.flaw = flaw;
    for (int i = 0; i < NODES; i++) {
      nodes.add(new RedlockModelNode(rule, flaw, "run " + runs++));
      nodes.get(i).mayVote();
      skew[i] = random.nextLong(2 * SECOND) - SECOND;
    }
    for (int i = 0; i < CLIENTS; i++) {
      String client = "c" + i;
      in(random.nextLong(SECOND), () -> begin(client, 0));
    }
    in(random.nextLong(3 * SECOND), this::fault);
    in(random.nextLong(SECOND), this::stall);
  }

  RedlockSimulation run() {
    long end = now + END;
    while (!tasks.isEmpty() && now < end && violations.isEmpty()) {
      Task next = tasks.remove();
      now = next.at;
      next.work.run();
    }
    return this;
  }

  private void in(long micros, Runnable work) {
    tasks.add(new Task(now + micros, order++, work));
  }

  private long clock(int node) {
    return now + skew[node];
  }

  /** Now and then one node forgets; seldom, a majority of them at once. */
  private void fault() {
    int first = random.nextInt(NODES);
    int count = random.nextInt(3) == 0 ? NODES / 2 + 1 : 1;
    boolean restarts = random.nextBoolean();
    for (int i = 0; i < count; i++) {
      RedlockModelNode node = nodes.get((first + i) % NODES);
      if (restarts) {
        node.restart("run " + runs++);
      } else {
        node.flush();
      }
    }
    in(2 * SECOND + random.nextLong(10 * SECOND), this::fault);
  }

  /** One of them stands still for longer than a request may take; what is sent to it comes later. */
  private void stall() {
    stalledUntil[random.nextInt(NODES)] = now + random.nextLong(3 * TIME_OUT);
    in(random.nextLong(SECOND), this::stall);
  }

  private void arrive(int node, Runnable work) {
    if (now < stalledUntil[node]) {
      in(stalledUntil[node] - now, () -> arrive(node, work));
    } else {
      work.run();
    }
  }

  /**
   * A request and its answer: each may be lost, late, or overtaken. What is not answered in time counts as unknown, and may
   * be applied afterwards.
   */
  private <A> void request(int node, Supplier<A> atNode, A unknown, Consumer<A> hears) {
    AtomicBoolean heard = new AtomicBoolean();
    Consumer<A> once = answer -> {
      if (heard.compareAndSet(false, true)) {
        hears.accept(answer);
      }
    };
    deliver(() -> arrive(node, () -> {
      A answer = atNode.get();
      deliver(() -> once.accept(answer));
    }));
    in(3 * TIME_OUT + random.nextLong(2 * TIME_OUT), () -> once.accept(unknown));
  }

  private void deliver(Runnable work) {
    if (random.nextInt(12) > 0) {
      in(random.nextInt(20) == 0 ? random.nextLong(2 * TIME_OUT) : random.nextLong(3_000), work);
    }
  }

  /** The clocks of a few nodes, as far as a client has heard of them. */
  private long[] someClocks() {
    int count = 1 + random.nextInt(NODES);
    int first = random.nextInt(NODES);
    return IntStream.range(0, count).mapToLong(i -> clock((first + i) % NODES)).toArray();
  }

  private Moment moment() {
    return new Moment(now * 1000, 0);
  }

  /** Asks again and again for the lock, under another claim each time. */
  private void begin(String client, int count) {
    new Client(client, count + 1).ask();
  }

  /** One claim, with what the engine does about it: asks, asks again, holds and renews, releases or just stops. */
  private final class Client {
    private final String client;
    private final int count;
    private final String claim;
    private final long lease;
    private final ClaimVotes votes;
    private final long[] accepted = new long[NODES];
    private int attempts;
    private boolean asking;
    private boolean open = true;
    private boolean uncertain;
    private boolean dead;

    /** The engine was told that nothing of it can be anywhere. */
    private boolean nowhere;

    private boolean forgotten;

    /** A majority has confirmed its end. */
    private boolean ended;

    /** Until when it trusts its hold; it is let go before. */
    private long validUntil;

    Client(String client, int count) {
      this.client = client;
      this.count = count;
      this.claim = client + "-" + count;
      long longest = rule.maxLeaseMicros();
      this.lease = random.nextInt(4) == 0 ? longest : longest / 40 + random.nextLong(longest / 8);
      Duration asDuration = Duration.of(lease, ChronoUnit.MICROS);
      this.votes = new ClaimVotes(NODES, asDuration, rule.reachMicros(), random::nextDouble);
    }

    private void next() {
      open = false;
      in(random.nextLong(SECOND / 2), () -> begin(client, count));
    }

    void ask() {
      if (!open) {
        return;
      }
      asking = true;
      int attempt = ++attempts;
      carryOut(votes.ask(moment(), (now + TIME_OUT) * 1000, someClocks()), (node, has) -> {});
      in(TIME_OUT, () -> {
        if (open && asking && attempt == attempts) {
          uncertain = true;
          notGranted(true);
        }
      });
    }

    private void carryOut(List<Order> orders, BiConsumer<Integer, Has> hears) {
      for (Order order : orders) {
        if (order instanceof AskVote ask) {
          request(ask.node(), () -> attempt(ask), UNKNOWN_VOTE, vote -> {
            hear(() -> votes.voted(ask, vote, false, now * 1000));
          });
        } else if (order instanceof TellEnd end) {
          request(end.node(), () -> end(end), Has.UNKNOWN, has -> {
            hear(() -> votes.ended(end, has));
            hears.accept(end.node(), has);
          });
        } else if (order instanceof Wake wake) {
          in(wake.nanos() / 1000, () -> hear(() -> votes.woken(wake, moment(), someClocks())));
        } else {
          answered(order);
        }
      }
      if (!forgotten && (votes.isForgotten() || nowhere)) {
        forgotten = true;
        judgeLeft("left", 1);
      }
    }

    private void hear(Supplier<List<Order>> event) {
      if (!dead) {
        carryOut(event.get(), (node, has) -> {});
      }
    }

    private RedlockVote attempt(AskVote ask) {
      int node = ask.node();
      long giveUp = ask.deadlineNanos() / 1000 + skew[node];
      List<String> answer = nodes
          .get(node)
          .attempt(
              clock(node),
              NAME,
              new RedlockModelNode.Ask(claim, ask.number(), false, giveUp, lease, "", 0));
      if (answer.get(0).equals("A")) {
        accepted[node] = takesTheGreatest() ? Long.parseLong(answer.get(1)) : ask.number();
      }
      if (ended) {
        judgeLeft("ended", NODES / 2 + 1);
      }
      if (nowhere || votes.isForgotten()) {
        judgeLeft("left", 1);
      }
      return read(answer);
    }

    private Has end(TellEnd end) {
      int node = end.node();
      // without write-back, a node hears of its own number alone
      long raise = takesTheGreatest() ? accepted[node] : end.number();
      boolean found =
          nodes.get(node).end(clock(node), NAME, claim, raise, 0).get(0).equals("R");
      return found ? Has.YES : Has.NO;
    }

    private void judgeLeft(String promise, int count) {
      long there = IntStream.range(0, NODES)
          .filter(node -> {
            List<String> seen = nodes.get(node).inspect(clock(node), NAME);
            return seen.get(1).equals(claim) && Long.parseLong(seen.get(2)) > clock(node);
          })
          .count();
      if (there >= count) {
        violations.add(promise + ": " + claim + " at " + now);
      }
    }

    private void answered(Order outcome) {
      if (!open) {
        return;
      }
      if (outcome instanceof Granted granted) {
        granted(granted);
        return;
      }
      boolean settled = !(outcome instanceof Failed failed) || failed.notApplied();
      uncertain &= !settled;
      if (asking) {
        uncertain |= !settled;
        nowhere = outcome instanceof Failed && !uncertain && attempts == MOST_ATTEMPTS;
        notGranted(outcome instanceof Failed);
      }
    }

    private void notGranted(boolean again) {
      asking = false;
      if (again && attempts < MOST_ATTEMPTS) {
        in(random.nextLong(20_000), this::ask);
      } else {
        next();
        if (uncertain) {
          release(1);
        }
      }
    }

    private void granted(Granted granted) {
      asking = false;
      long token =
          takesTheGreatest() ? Arrays.stream(accepted).max().orElseThrow() : granted.number();
      validUntil = validFrom(granted.sent().nanos() / 1000);
      if (validUntil <= now) {
        next();
        release(1);
        return;
      }
      grants++;
      lateGrants += attempts > 1 ? 1 : 0;
      open = false;
      judge(token);
      holders.add(this);
      hold(granted.number(), random.nextInt(4));
    }

    private long validFrom(long sent) {
      return sent + lease - lease / 100 - 10_000;
    }

    /** Holds on, with some renewals. */
    private void hold(long number, int renewals) {
      long left = validUntil - now;
      if (renewals > 0) {
        in(left / 3, () -> renew(number, renewals - 1));
      } else {
        in(random.nextInt(3) == 0 ? left : Math.min(left, random.nextLong(100_000)), this::finish);
      }
    }

    private void renew(long number, int renewals) {
      long sent = now;
      @Nullable RedlockReply[] replies = new RedlockReply[NODES];
      for (int i = 0; i < NODES; i++) {
        int node = i;
        request(node, () -> keep(node, number), RedlockReply.unknown(null), reply -> {
          replies[node] = reply;
          if (RedlockReply.majority(Arrays.asList(replies), false) == Has.YES && validUntil > now) {
            validUntil = Math.max(validUntil, validFrom(sent));
          }
        });
      }
      in(TIME_OUT / 2, () -> {
        if (validUntil > now) {
          hold(number, renewals);
        } else {
          finish();
        }
      });
    }

    private RedlockReply keep(int node, long number) {
      String said =
          nodes.get(node).keep(clock(node), NAME, claim, number, lease).get(0);
      return RedlockReply.of(said.startsWith("H"), false);
    }

    private boolean takesTheGreatest() {
      return flaw == RedlockFlaw.NUMBERS_OF_THE_NODES;
    }

    private void judge(long token) {
      for (Client other : holders) {
        if (other.validUntil > now) {
          violations.add("exclusion: " + claim + " and " + other.claim + " at " + now);
        }
      }
      holders.clear();
      if (token <= lastToken) {
        violations.add("token: " + token + " after " + lastToken + " at " + now);
      }
      lastToken = Math.max(lastToken, token);
    }

    private void finish() {
      validUntil = 0;
      dead = random.nextInt(4) == 0;
      if (!dead) {
        release(1);
      }
      next();
    }

    private void release(int attempt) {
      @Nullable RedlockReply[] replies = new RedlockReply[NODES];
      carryOut(votes.release(Duration.ZERO), (node, has) -> {
        replies[node] = has == Has.UNKNOWN
            ? RedlockReply.unknown(null)
            : RedlockReply.of(has == Has.YES, false);
        Has all = RedlockReply.majority(Arrays.asList(replies), false);
        if (!ended && (all == Has.YES || all == Has.NO)) {
          ended = true;
          judgeLeft("ended", NODES / 2 + 1);
        }
      });
      in(TIME_OUT, () -> {
        if (!ended && attempt < MOST_ATTEMPTS) {
          release(attempt + 1);
        }
      });
    }
  }

  private static RedlockVote read(List<String> answer) {
    return switch (answer.get(0)) {
      case "A" -> RedlockVote.accepted(false);
      case "H" ->
        RedlockVote.held(
            answer.get(1),
            Long.parseLong(answer.get(2)),
            Long.parseLong(answer.get(3)),
            Optional.empty());
      case "S" -> RedlockVote.stale(Long.parseLong(answer.get(1)));
      case "F" -> RedlockVote.of(Kind.FAR);
      case "N" -> RedlockVote.abstains(Long.parseLong(answer.get(1)));
      case "L" -> RedlockVote.of(Kind.LATE);
      default -> throw new AssertionError(answer);
    };
  }
}
