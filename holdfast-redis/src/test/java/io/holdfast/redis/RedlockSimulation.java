// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RedlockTally.Decision;
import io.holdfast.redis.RedlockVote.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Clients and nodes in simulated time, from a seed: requests and answers take time, get lost and overtake each other;
 * nodes restart empty, are flushed, and have clocks of their own, set apart by almost half of the reach. The clients
 * decide with the production code. Whatever was granted is judged in true time.
 */
final class RedlockSimulation {
  private static final int NODES = 5;
  private static final int CLIENTS = 4;
  private static final long SECOND = 1_000_000;
  private static final long END = 60 * SECOND;
  private static final long TIME_OUT = SECOND / 10;
  private static final Duration REACH = Duration.ofSeconds(2);
  private static final String NAME = "x";

  private final RedlockRule rule;
  private final Random random;
  private final RedlockFlaw flaw;
  private final List<RedlockModelNode> nodes = new ArrayList<>();
  private final long[] skew = new long[NODES];
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  private final List<Client> clients = new ArrayList<>();
  private long now = 1_000 * SECOND;
  private long order;
  private long lastToken;
  private int runs;

  /** What happened. */
  final List<String> violations = new ArrayList<>();

  int grants;
  int splits;

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
      Client client = new Client("c" + i);
      clients.add(client);
      in(random.nextLong(SECOND), client::begin);
    }
    in(random.nextLong(3 * SECOND), this::fault);
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

  /** One client: asks, holds for a while, releases or just stops; and again. */
  private final class Client {
    private final String name;
    private int claims;
    private String claim = "";
    private long lease;
    private long number;
    private long proposals;
    private RedlockTally.@Nullable Other before;
    private @Nullable RedlockVote[] votes = new RedlockVote[NODES];
    private final long[] accepted = new long[NODES];
    private long sent;
    private boolean open;

    /** Until when it trusts its hold; it is let go before. */
    private long validUntil;

    Client(String name) {
      this.name = name;
    }

    void begin() {
      claim = name + "-" + ++claims;
      long longest = rule.maxLeaseMicros();
      lease = random.nextInt(4) == 0 ? longest : longest / 40 + random.nextLong(longest / 8);
      number = 0;
      before = null;
      votes = new RedlockVote[NODES];
      Arrays.fill(accepted, 0);
      propose();
    }

    private void propose() {
      number = RedlockNumbers.next(someClocks(), number, asList(votes), rule.reachMicros());
      votes = new RedlockVote[NODES];
      sent = now;
      open = true;
      long round = ++proposals;
      long proposed = number;
      String asking = claim;
      long giveUp = now + TIME_OUT;
      for (int i = 0; i < NODES; i++) {
        int node = i;
        deliver(() -> ask(node, asking, proposed, giveUp, round));
      }
      in(TIME_OUT, () -> decide(round, true));
    }

    /** The clocks of a few nodes, as far as this client has heard of them. */
    private long[] someClocks() {
      int count = 1 + random.nextInt(NODES);
      int first = random.nextInt(NODES);
      long[] clocks = new long[count];
      for (int i = 0; i < count; i++) {
        clocks[i] = clock((first + i) % NODES);
      }
      return clocks;
    }

    private void deliver(Runnable work) {
      if (random.nextInt(12) > 0) {
        in(random.nextInt(20) == 0 ? random.nextLong(2 * TIME_OUT) : random.nextLong(3_000), work);
      }
    }

    private void ask(int node, String asking, long proposed, long giveUp, long round) {
      RedlockModelNode.Ask ask =
          new RedlockModelNode.Ask(asking, proposed, false, giveUp + skew[node], lease, "", 0);
      List<String> answer = nodes.get(node).attempt(clock(node), NAME, ask);
      deliver(() -> {
        if (round == proposals) {
          votes[node] = read(answer);
          if (answer.get(0).equals("A")) {
            accepted[node] =
                flaw == RedlockFlaw.NUMBERS_OF_THE_NODES ? Long.parseLong(answer.get(1)) : proposed;
          }
          decide(round, false);
        }
      });
    }

    private void decide(long round, boolean over) {
      if (!open || round != proposals) {
        return;
      }
      boolean all = Arrays.stream(votes).allMatch(vote -> vote != null);
      RedlockTally tally = new RedlockTally(asList(votes));
      Decision decision = tally.decide(over || all, before);
      if (decision == Decision.OPEN) {
        return;
      }
      open = false;
      before = tally.first();
      switch (decision) {
        case GRANTED -> granted();
        case SPLIT, AGAIN -> {
          splits++;
          end();
          in(random.nextLong(20_000), this::propose);
        }
        default -> {
          end();
          in(random.nextLong(SECOND / 2), this::begin);
        }
      }
    }

    private static List<@Nullable RedlockVote> asList(@Nullable RedlockVote[] votes) {
      List<@Nullable RedlockVote> list = new ArrayList<>();
      for (RedlockVote each : votes) {
        list.add(each);
      }
      return list;
    }

    private void granted() {
      long token = takesTheGreatest() ? Arrays.stream(accepted).max().orElseThrow() : number;
      validUntil = sent + lease - lease / 100 - 10_000;
      if (validUntil <= now) {
        end();
        in(1, this::begin);
        return;
      }
      grants++;
      judge(token);
      long hold = random.nextInt(3) == 0 ? validUntil - now : random.nextLong(100_000);
      in(Math.min(hold, validUntil - now), this::finish);
    }

    private boolean takesTheGreatest() {
      return flaw == RedlockFlaw.NUMBERS_OF_THE_NODES;
    }

    private void judge(long token) {
      for (Client other : clients) {
        if (!other.equals(this) && other.validUntil > now) {
          violations.add("exclusion: " + name + " and " + other.name + " at " + now);
        }
      }
      if (token <= lastToken) {
        violations.add("token: " + token + " after " + lastToken + " at " + now);
      }
      lastToken = Math.max(lastToken, token);
    }

    private void finish() {
      validUntil = 0;
      if (random.nextInt(4) > 0) {
        end();
      }
      in(random.nextLong(SECOND / 2), this::begin);
    }

    private void end() {
      String ended = claim;
      long highest = Math.max(number, Arrays.stream(accepted).max().orElse(0));
      for (int i = 0; i < NODES; i++) {
        int node = i;
        // without write-back, a node hears of its own number alone
        long raise = takesTheGreatest() ? accepted[i] : highest;
        deliver(() -> nodes.get(node).end(clock(node), NAME, ended, raise, 0));
      }
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
