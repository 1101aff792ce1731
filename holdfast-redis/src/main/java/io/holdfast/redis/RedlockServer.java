// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.Claim;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A node that is a Redis server: one script for each question. */
final class RedlockServer implements RedlockNode {
  private static final byte[] TRY = {'T'};
  private static final byte[] QUEUE = {'Q'};
  private static final byte[] WAITER_LEASE = RedisAnswer.argument(micros(RedlockWaits.LEASE));

  private final String address;
  private final RedlockRule rule;
  private final RedisLink link;
  private final RedisClock clock;
  private final RedisKeys keys;
  private final byte[] retention;
  private final byte[] maxLease;
  private final byte[] abstains;
  private final byte[] reach;
  /** Which server the last connection led to; empty before the first. */
  private volatile String server = "";

  /**
   * What the first question found.
   *
   * @param run which server it is, since its last start
   * @param abstainsMicros for how long it does not vote
   */
  record Found(String run, long abstainsMicros) {
    static Found read(List<Object> answer) {
      return new Found(
          RedlockVoters.server(RedisAnswer.text(answer, 1)), RedisAnswer.number(answer, 2));
    }
  }

  RedlockServer(
      String address,
      RedlockRule rule,
      RedisLink link,
      RedisClock clock,
      RedisKeys keys,
      RedisOptions options) {
    this.address = address;
    this.rule = rule;
    this.link = link;
    this.clock = clock;
    this.keys = keys;
    this.retention =
        RedisAnswer.argument(Math.max(options.retentionMicros(), 2 * rule.reachMicros()));
    this.maxLease = RedisAnswer.argument(rule.maxLeaseMicros());
    this.abstains = RedisAnswer.argument(rule.abstainsMicros());
    this.reach = RedisAnswer.argument(rule.reachMicros());
  }

  /**
   * Returns what each new connection is asked: the node's name may lead to another server than before.
   *
   * @param hears is told which server it is
   */
  static FirstQuestion firstQuestion(RedlockRule rule, RedisKeys keys, Consumer<Found> hears) {
    return new FirstQuestion(
        RedisScript.REDLOCK_CHECK,
        () -> keysOfCheck(keys),
        argumentsOfCheck(rule, keys),
        answer -> hears.accept(Found.read(answer)));
  }

  private static byte[][] keysOfCheck(RedisKeys keys) {
    byte[][] nothing = keys.ofNothing();
    return new byte[][] {keys.marker(), nothing[0], nothing[2]};
  }

  private static byte[][] argumentsOfCheck(RedlockRule rule, RedisKeys keys) {
    return new byte[][] {
      RedisAnswer.argument(rule.maxLeaseMicros()),
      RedisAnswer.argument(rule.abstainsMicros()),
      keys.channel()
    };
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1000;
  }

  /** Returns host and port, for people. */
  String address() {
    return address;
  }

  RedisLink link() {
    return link;
  }

  RedisClock redisClock() {
    return clock;
  }

  private byte[][] record(LockKey name) {
    byte[][] all = keys.of(name);
    return new byte[][] {all[0], all[2]};
  }

  void leadsTo(String run) {
    server = run;
  }

  /** Returns which server the last connection led to, since that one's start; empty before the first. */
  String server() {
    return server;
  }

  /** Runs a script; a failure that is one of the configuration is told as such. */
  private CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    return link.run(script, of, arguments).exceptionally(failure -> {
      throw explained(failure);
    });
  }

  private CompletionException explained(Throwable failure) {
    if (String.valueOf(failure.getMessage()).contains("HOLDFAST-LEASE")) {
      return new CompletionException(new ConfigurationException(
          "the node was set up with another holdfast.max-lease than "
              + DurationText.exact(rule.maxLease())
              + "; all clients of a set of nodes must have the same",
          address,
          failure));
    }
    return new CompletionException(failure);
  }

  static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  /** Opens the connections. */
  CompletionStage<@Nullable Void> connect() {
    return link.connect().exceptionally(failure -> {
      throw explained(failure);
    });
  }

  /** Opens the connections and looks at the marker. */
  CompletionStage<Found> look() {
    return connect()
        .thenCompose(
            up -> run(RedisScript.REDLOCK_CHECK, keysOfCheck(keys), argumentsOfCheck(rule, keys)))
        .thenApply(Found::read);
  }

  @Override
  public OptionalLong clock() {
    // who has said who it is has said what its clock reads
    return server.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(RedisClock.micros(clock.now()));
  }

  @Override
  public CompletionStage<RedlockVote> attempt(
      Claim claim, long number, Mode mode, long leftMicros) {
    byte[][] record = record(claim.name());
    byte[][] of = {keys.marker(), record[0], record[1]};
    return run(
            RedisScript.REDLOCK_ATTEMPT,
            of,
            maxLease,
            abstains,
            reach,
            retention,
            RedisAnswer.argument(claim.id().toString()),
            RedisAnswer.argument(number),
            mode == Mode.QUEUE ? QUEUE : TRY,
            RedisAnswer.argument(RedisClock.micros(clock.now()) + leftMicros),
            RedisAnswer.argument(micros(claim.lease())),
            RedisHolder.write(claim.holder()),
            WAITER_LEASE)
        .thenApply(RedlockVote::read)
        .exceptionally(failure -> {
          Throwable cause = unwrap(failure);
          boolean notApplied = cause instanceof ConfigurationException
              || (cause instanceof StoreException known && known.notApplied());
          return RedlockVote.failed(cause, notApplied);
        });
  }

  @Override
  public CompletionStage<List<RedlockReply>> keep(List<Ballot> ballots) {
    List<byte[]> of = new ArrayList<>(List.of(keys.marker()));
    List<byte[]> arguments = new ArrayList<>(List.of(maxLease, abstains, retention));
    for (Ballot ballot : ballots) {
      of.addAll(List.of(record(ballot.claim().name())));
      arguments.add(RedisAnswer.argument(ballot.claim().id().toString()));
      arguments.add(RedisAnswer.argument(ballot.number()));
      arguments.add(RedisAnswer.argument(micros(ballot.claim().lease())));
    }
    return run(
            RedisScript.REDLOCK_KEEP, of.toArray(byte[][]::new), arguments.toArray(byte[][]::new))
        .thenApply(answer -> {
          List<RedlockReply> replies = new ArrayList<>();
          String who = RedlockVoters.server(RedisAnswer.text(answer, ballots.size() + 1));
          for (int i = 0; i < ballots.size(); i++) {
            replies.add(kept(RedisAnswer.text(answer, i + 1)).by(who));
          }
          return replies;
        })
        .exceptionally(
            failure -> Collections.nCopies(ballots.size(), RedlockReply.unknown(unwrap(failure))));
  }

  private static RedlockReply kept(String answer) {
    return switch (answer) {
      case "H 0" -> RedlockReply.of(true, false);
      case "H 1" -> RedlockReply.of(true, true);
      case "N" -> RedlockReply.of(false, false);
      default -> RedlockReply.unknown(null);
    };
  }

  @Override
  public CompletionStage<RedlockReply> end(Claim claim, long number, Duration keepFor) {
    String who = server;
    return run(
            RedisScript.REDLOCK_END,
            record(claim.name()),
            retention,
            keys.channel(),
            RedisAnswer.argument(claim.id().toString()),
            RedisAnswer.argument(number),
            RedisAnswer.argument(micros(keepFor)))
        .thenApply(answer -> RedlockReply.of(
                RedisAnswer.text(answer, 1).equals("R"),
                RedisAnswer.text(answer, 2).equals("1"))
            .by(who))
        .exceptionally(failure -> RedlockReply.unknown(unwrap(failure)));
  }

  /** Ends the grant with a number at this node. */
  CompletionStage<RedlockReply> evict(LockKey name, long number) {
    return run(
            RedisScript.REDLOCK_EVICT,
            record(name),
            retention,
            keys.channel(),
            RedisAnswer.argument(number))
        .thenApply(answer -> RedlockReply.of(RedisAnswer.text(answer, 1).equals("1"), false))
        .exceptionally(failure -> RedlockReply.unknown(unwrap(failure)));
  }

  /** Looks at what this node has of a lock. */
  CompletionStage<RedlockView> inspect(LockKey name) {
    return run(RedisScript.REDLOCK_INSPECT, record(name))
        .thenApply(RedlockView::read)
        .exceptionally(failure -> RedlockView.failed(unwrap(failure)));
  }
}
