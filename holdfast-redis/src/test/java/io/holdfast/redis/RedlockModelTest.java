// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The model's nodes are no fiction: the same questions, at the same times, get the same answers from a real server. The
 * time of each answer is the server's; the model is asked as of then.
 */
@Tag("stores")
class RedlockModelTest {
  private static final RedlockRule RULE =
      new RedlockRule(3, Duration.ofMillis(8), Duration.ofMillis(3));
  private static final String PREFIX = "holdfast:";
  private static final String MARKER = PREFIX + "{}:m";
  private static final String RETENTION = "60000000";
  private static final int QUESTIONS = 8_000;

  /** Each kind of answer must come more often; if leases end between two questions of a slow machine, that takes more of them. */
  private static final int OFTEN = QUESTIONS / 200;

  private static final String KINDS = "AHSFNL";
  private static final List<String> CLAIMS = List.of("aa-1", "aa-2", "bb-1", "cc-7");
  private static final List<String> NAMES = List.of("x", "y");

  private final Random random = new Random(20260711);

  @Test
  void model_answersAsTheServerDoes() {
    try (RedisServer server = RedisServer.forgetful()) {
      RedisClient client = RedisClient.create(server.uri());
      try (var connection = client.connect()) {
        compare(connection.sync());
      } finally {
        Direct.close(client);
      }
    }
  }

  private void compare(RedisCommands<String, String> redis) {
    RedlockModelNode model = new RedlockModelNode(RULE, RedlockFlaw.NONE, identity(redis));
    int[] kinds = new int[128];
    int questions = 0;
    while (questions < QUESTIONS || (questions < 10 * QUESTIONS && isAnyRare(kinds))) {
      questions++;
      String name = pick(NAMES);
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 -> kinds[attempt(redis, model, name).charAt(0)]++;
        case 10, 11, 12 -> keep(redis, model, name);
        case 13, 14, 15, 16 -> end(redis, model, name);
        case 17 -> evict(redis, model, name);
        case 18 -> inspect(redis, model, name);
        default -> forget(redis, model);
      }
    }
    KINDS
        .chars()
        .forEach(kind -> assertThat(kinds[kind]).as("answers " + (char) kind).isGreaterThan(OFTEN));
  }

  private static boolean isAnyRare(int[] kinds) {
    return KINDS.chars().anyMatch(kind -> kinds[kind] <= OFTEN);
  }

  private <T> T pick(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  private static String identity(RedisCommands<String, String> redis) {
    Matcher run = Pattern.compile("run_id:(\\w+)").matcher(redis.info("server"));
    assertThat(run.find()).isTrue();
    return run.group(1) + "-0";
  }

  private static long time(RedisCommands<String, String> redis) {
    List<String> time = redis.time();
    return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
  }

  private static List<String> eval(
      RedisCommands<String, String> redis, RedisScript script, String[] keys, Object... values) {
    String[] arguments = new String[values.length];
    for (int i = 0; i < values.length; i++) {
      arguments[i] = String.valueOf(values[i]);
    }
    return redis.eval(script.text(), ScriptOutputType.MULTI, keys, arguments);
  }

  private static String[] record(String name) {
    return new String[] {PREFIX + "{" + name + "}", PREFIX + "{" + name + "}:w"};
  }

  private static String[] withMarker(String name) {
    return new String[] {MARKER, record(name)[0], record(name)[1]};
  }

  /** Compares, and returns the answer without its time. */
  private static List<String> check(List<String> answered, List<String> modelled, String what) {
    List<String> real = answered.subList(1, answered.size());
    assertThat(modelled).as(what).isEqualTo(real);
    return real;
  }

  /** Without what the server is, which the model's nodes need not say: they are what they are. */
  private static List<String> withoutServer(
      List<String> answered, RedisCommands<String, String> redis) {
    if (answered.get(1).equals("L")) {
      return answered;
    }
    int last = answered.size() - 1;
    assertThat(answered.get(last)).isEqualTo(identity(redis));
    return answered.subList(0, last);
  }

  private static long now(List<String> answered) {
    return Long.parseLong(answered.get(0));
  }

  private String attempt(RedisCommands<String, String> redis, RedlockModelNode model, String name) {
    long about = time(redis);
    long number = about + random.nextInt(8_000) - 3_500;
    RedlockModelNode.Ask ask = new RedlockModelNode.Ask(
        pick(CLAIMS),
        number,
        random.nextBoolean(),
        about + (random.nextInt(10) == 0 ? -1 : 1_000_000),
        100 + random.nextInt(3_000),
        "holder " + random.nextInt(3),
        2_000);
    List<String> answer = eval(
        redis,
        RedisScript.REDLOCK_ATTEMPT,
        withMarker(name),
        RULE.maxLeaseMicros(),
        RULE.abstainsMicros(),
        RULE.reachMicros(),
        RETENTION,
        ask.claim(),
        ask.number(),
        ask.queue() ? "Q" : "T",
        ask.giveUpAt(),
        ask.lease(),
        ask.holder(),
        ask.waiterLease());
    return check(
            withoutServer(answer, redis), model.attempt(now(answer), name, ask), ask.toString())
        .get(0);
  }

  /** A number that the server has accepted, or one near it. */
  private long number(RedisCommands<String, String> redis, String name) {
    String accepted = redis.hget(record(name)[0], "r");
    return accepted == null ? time(redis) : Long.parseLong(accepted) + random.nextInt(3) - 1;
  }

  private void keep(RedisCommands<String, String> redis, RedlockModelNode model, String name) {
    String claim = pick(CLAIMS);
    long number = number(redis, name);
    int lease = 100 + random.nextInt(3_000);
    List<String> answer = eval(
        redis,
        RedisScript.REDLOCK_KEEP,
        withMarker(name),
        RULE.maxLeaseMicros(),
        RULE.abstainsMicros(),
        RETENTION,
        claim,
        number,
        lease);
    check(
        withoutServer(answer, redis),
        model.keep(now(answer), name, claim, number, lease),
        "keep " + claim);
  }

  private void end(RedisCommands<String, String> redis, RedlockModelNode model, String name) {
    String claim = pick(CLAIMS);
    long number = number(redis, name);
    int keepFor = random.nextInt(3) == 0 ? random.nextInt(4_000) : 0;
    List<String> answer = eval(
        redis,
        RedisScript.REDLOCK_END,
        record(name),
        RETENTION,
        PREFIX + "client:",
        claim,
        number,
        keepFor);
    check(answer, model.end(now(answer), name, claim, number, keepFor), "end " + claim);
  }

  private void evict(RedisCommands<String, String> redis, RedlockModelNode model, String name) {
    long number = number(redis, name);
    List<String> answer =
        eval(redis, RedisScript.REDLOCK_EVICT, record(name), RETENTION, PREFIX + "client:", number);
    check(answer, model.evict(now(answer), name, number), "evict " + number);
  }

  private static void inspect(
      RedisCommands<String, String> redis, RedlockModelNode model, String name) {
    List<String> answer = eval(redis, RedisScript.REDLOCK_INSPECT, record(name));
    check(answer, model.inspect(now(answer), name), "inspect");
  }

  private void forget(RedisCommands<String, String> redis, RedlockModelNode model) {
    if (random.nextInt(6) > 0) {
      return;
    }
    if (random.nextBoolean()) {
      redis.flushall();
      model.flush();
    } else if (redis.exists(MARKER) == 1) {
      redis.hset(MARKER, "id", "another run");
      model.markAs("another run");
    }
  }
}
