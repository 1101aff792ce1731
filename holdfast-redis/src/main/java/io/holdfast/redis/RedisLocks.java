// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Attempt and end: one script each, and what its answer means. */
final class RedisLocks {
  /** What a granted attempt's answer begins with. */
  static final char GRANTED = 'G';

  /** Where the parts of packed answers are. */
  private static final int REVISION = 9;

  private static final int OTHERS_WAIT = 17;
  private static final int IS_FINAL = 9;

  private static final byte[] TRY = {'T'};
  private static final byte[] QUEUE = {'Q'};

  private final StoreRuntime runtime;
  private final RedisRoute route;
  private final RedisKeys keys;
  private final RedisWaits waits;
  private final byte[] retention;

  RedisLocks(
      StoreRuntime runtime,
      RedisRoute route,
      RedisKeys keys,
      RedisWaits waits,
      RedisOptions options) {
    this.runtime = runtime;
    this.route = route;
    this.keys = keys;
    this.waits = waits;
    this.retention = RedisAnswer.argument(options.retentionMicros());
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    Moment sent = runtime.ticker().now();
    if (mode == Mode.QUEUE) {
      waits.asks(claim, sent);
    }
    byte[][] of = keys.of(claim.name());
    String tag = mode == Mode.QUEUE ? route.tag(of[0]) : null;
    return route
        .run(
            RedisScript.ATTEMPT,
            of,
            RedisAnswer.argument(claim.id().toString()),
            mode == Mode.QUEUE ? QUEUE : TRY,
            RedisAnswer.argument(RedisClock.micros(giveUpAt)),
            RedisAnswer.argument(RedisClock.micros(claim.lease())),
            RedisHolder.write(claim.holder(), tag),
            RedisWaits.LEASE_ARGUMENT,
            retention,
            keys.channel())
        .thenApply(answer -> attempted(claim, mode, sent, answer))
        .whenComplete((answer, failure) -> {
          if (mode == Mode.QUEUE && failure != null) {
            failed(claim, failure);
          }
        });
  }

  /** The engine ends only claims of which something may be there. */
  private void failed(Claim claim, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    boolean notApplied = cause instanceof ConfigurationException
        || (cause instanceof StoreException said && said.notApplied());
    if (notApplied) {
      waits.notApplied(claim);
    }
  }

  private Answer attempted(Claim claim, Mode mode, Moment sent, List<Object> answer) {
    if (RedisAnswer.packed(answer) == GRANTED) {
      waits.over(claim);
      return new Answer.Granted(new Grant(
          RedisAnswer.packedNumber(answer, REVISION),
          sent,
          claim.lease(),
          RedisAnswer.packedFlag(answer, OTHERS_WAIT)));
    }
    String kind = RedisAnswer.text(answer, 1);
    switch (kind) {
      case "B" -> {
        long left = RedisAnswer.number(answer, 2);
        if (mode == Mode.QUEUE) {
          waits.queued(claim, sent, RedisAnswer.number(answer, 5));
          waits.lookWhenFree(claim, RedisAnswer.text(answer, 4).equals("1"), left);
        }
        return new Answer.Busy(
            mode == Mode.QUEUE,
            RedisHolder.read(RedisAnswer.bytes(answer, 3)),
            Optional.of(Duration.of(Math.max(0, left), ChronoUnit.MICROS)));
      }
      case "L" -> {
        if (mode == Mode.QUEUE) {
          waits.notApplied(claim);
        }
        return new Answer.Late();
      }
      default -> throw new IllegalStateException("no answer of attempt.lua: " + kind);
    }
  }

  CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    waits.over(claim);
    return route
        .run(
            RedisScript.END,
            keys.of(claim.name()),
            RedisAnswer.argument(claim.id().toString()),
            RedisAnswer.argument(RedisClock.micros(keepFor)),
            RedisAnswer.argument(RedisClock.micros(lastGiveUp)),
            retention,
            keys.channel())
        .thenApply(answer -> new Ended(
            outcome(RedisAnswer.packed(answer)),
            RedisAnswer.packedFlag(answer, IS_FINAL),
            RedisAnswer.packedFlag(answer, IS_FINAL + 1)));
  }

  private static Outcome outcome(char found) {
    return switch (found) {
      case 'R' -> Outcome.RELEASED;
      case 'W' -> Outcome.WITHDRAWN;
      case 'N' -> Outcome.NOT_THERE;
      default -> throw new IllegalStateException("no answer of end.lua: " + found);
    };
  }
}
