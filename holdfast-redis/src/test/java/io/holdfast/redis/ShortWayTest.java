// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The short way through {@code attempt.lua} and {@code end.lua}, and {@code keep-held.lua} before {@code keep.lua}, do
 * what the long ones do: the same random requests go to one lock with the scripts as they are, and to another with the
 * short way cut out.
 */
@Tag("stores")
class ShortWayTest {
  private static final String SHORT = "if packed and ";
  private static final String CUT = "if false and packed and ";
  private static final String SHORT_ARGUMENTS =
      "local ARGV = {ARGV[1], struct.pack('<i8i8', tonumber(ARGV[2]), tonumber(ARGV[3]))}\n";
  private static final String SHORT_ANSWER = "return table.concat(answer)";
  private static final String IS_HELD =
      "local held = struct.unpack('<i8', table.concat(answer), 10)\n"
          + "return {'', held > 0 and 'H 0' or held < 0 and 'H 1' or '0'}";
  private static final int REQUESTS = 2_000;
  private static final int MOST = 3;
  private static final String SOON = "4503599627370496";
  private static final String LONG_AGO = "1";
  private static final String LEASE = "60000000";
  private static final String MINUTE = "60000000";
  private static final String TWO_DAYS = "172800000000";
  private static final String RETENTION = "86400000000";

  /** So short that it has ended when the next request comes. */
  private static final String NO_TIME = "1";

  /** Begins anew: with nothing, or with a record as time or a newer version leave it. */
  private static final String PLANT = """
      local clock = redis.call('TIME')
      local now = clock[1] * 1000000 + clock[2]
      local soon = string.format('%.0f', now + 60000000)
      redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
      if ARGV[1] == 'nothing' then
        return 1
      end
      local format, queued, rev, till, claim = 2, 0, now, 0, ''
      local life = string.find(ARGV[1], 'shortly') and 60000000 or 864000000000
      if string.find(ARGV[1], 'ahead') then
        rev = now + 3600000000
      elseif string.find(ARGV[1], 'last') then
        rev = 9007199254740991
      end
      if string.find(ARGV[1], 'newer') then
        format = 3
      end
      if string.find(ARGV[1], 'held') then
        till, claim = now + 60000000, 'aa-1'
      end
      if string.find(ARGV[1], 'queue') then
        queued = 1
      end
      local firstTill, firstLease, firstHolder = soon, '60000000', 'holder of aa-0'
      if string.find(ARGV[1], 'dead') then
        firstTill = '1'
      elseif string.find(ARGV[1], 'tagged') then
        firstHolder = 'a\\nb\\nc\\nd\\ne\\n{12}'
      elseif string.find(ARGV[1], 'for long') then
        firstLease = '1728000000000'
      end
      if string.find(ARGV[1], 'waits') then
        redis.call('ZADD', KEYS[2], '1', 'aa-0')
        redis.call('HSET', KEYS[3], 'aa-0', firstTill .. ' ' .. firstLease .. ' ' .. firstHolder)
      end
      if string.find(ARGV[1], 'unreadable') then
        redis.call('HSET', KEYS[3], 'aa-0', '?')
      end
      if string.find(ARGV[1], 'both') then
        redis.call('ZADD', KEYS[2], '2', 'aa-2')
        redis.call('HSET', KEYS[3], 'aa-2', soon .. ' 30000000 holder of aa-2')
      end
      local head = struct.pack('<BBi8i8i8i8', format, queued, rev, till, now, rev + life)
      redis.call('HSET', KEYS[1], 'l', head .. claim, 'h', 'planted')
      return redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.floor((rev + life) / 1000) + 1))
      """;

  private static final List<String> PLANTED = List.of(
      "nothing",
      "nothing",
      "nothing",
      "nothing",
      "ahead",
      "ahead",
      "last",
      "newer",
      "newer, held",
      "held, queue, waits",
      "held, queue, waits, both",
      "held, queue, waits, both, shortly",
      "held, queue, waits, dead",
      "held, queue, waits, dead, both",
      "held, queue, waits, tagged",
      "held, queue, waits, for long",
      "held, queue, waits, unreadable",
      "held, queue, waits, ahead",
      "held, queue, waits, last");

  /** The revision as messages have it. */
  private static final String REVISION = """
      local packed = redis.call('HGET', KEYS[1], 'l')
      return packed and string.format('%.0f', (select(3, struct.unpack('<BBi8', packed))))
      """;

  /** What is stored, with times only as near as two requests for the same are to each other. */
  private static final String STORED = """
      local packed = redis.call('HGET', KEYS[1], 'l')
      if not packed then
        return 'nothing'
      end
      local clock = redis.call('TIME')
      local now = clock[1] * 1000000 + clock[2]
      local goes = redis.call('PEXPIRETIME', KEYS[1]) * 1000
      local waiters = redis.call('HKEYS', KEYS[3])
      table.sort(waiters)
      local format, queued, rev, till, since, gone, at = struct.unpack('<BBi8i8i8i8', packed)
      local claim = string.sub(packed, at)
      if gone < till or gone < rev + tonumber(ARGV[1]) then
        return 'the key does not live long enough'
      end
      return table.concat({format, queued, till > now and math.ceil((till - now) / 10000000) or 'free', claim,
        rev == since and 'in time' or rev > now and 'ahead' or 'behind', now - since < 60000000 and 'lately' or 'before',
        math.abs(goes - gone) < 1000000 and 'lives' or 'goes', claim == '' and 'nobody' or redis.call('HGET', KEYS[1], 'h'),
        'queue', table.concat(redis.call('ZRANGE', KEYS[2], 0, -1), ','), 'waiters', table.concat(waiters, ',')}, ' ')
      """;

  private final Random random = new Random(20261121);
  private int shortlyKept;
  private int told;

  @Test
  void shortWay_doesWhatTheLongOneDoes() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisPubSubConnection<String, String> messages =
            Direct.asking().connectPubSub(RedisURI.create(server.uri()))) {
      Told one = new Told(messages, "one:");
      Told other = new Told(messages, "other:");
      messages.sync().psubscribe("*:aa");
      int granted = server.call(redis -> compare(redis, one, other));
      assertThat(granted).as("grants").isGreaterThan(REQUESTS / 10);
      assertThat(shortlyKept).as("renewals by the short way").isGreaterThan(REQUESTS / 100);
      assertThat(told).as("waiters that were told").isGreaterThan(REQUESTS / 100);
    }
  }

  /** What waiters are told on the channels of one side, without the revision, which is the record's. */
  private static final class Told extends RedisPubSubAdapter<String, String> {
    final String prefix;
    private final StatefulRedisPubSubConnection<String, String> connection;
    private final Queue<String> messages = new ConcurrentLinkedQueue<>();

    Told(StatefulRedisPubSubConnection<String, String> connection, String prefix) {
      this.prefix = prefix;
      this.connection = connection;
      connection.addListener(this);
    }

    @Override
    public void message(String pattern, String channel, String message) {
      if (channel.startsWith(prefix)) {
        messages.add(message);
      }
    }

    List<String> since(RedisCommands<String, String> redis, String[] keys) {
      // its answer comes behind all that was published before
      connection.sync().ping();
      List<String> told = new ArrayList<>();
      for (String message; (message = messages.poll()) != null; ) {
        String revision = redis.eval(REVISION, ScriptOutputType.VALUE, keys);
        told.add(message.replace(" " + revision + " ", " the record's "));
      }
      return told;
    }
  }

  private int compare(RedisCommands<String, String> redis, Told toldOne, Told toldOther) {
    String[] one = keys("one");
    String[] other = keys("other");
    int granted = 0;
    for (int i = 0; i < REQUESTS; i++) {
      if (random.nextInt(10) == 0) {
        String planted = PLANTED.get(random.nextInt(PLANTED.size()));
        redis.eval(PLANT, ScriptOutputType.INTEGER, one, planted);
        redis.eval(PLANT, ScriptOutputType.INTEGER, other, planted);
      }
      if (random.nextInt(3) == 0) {
        compareRenewals(redis, one, other);
        continue;
      }
      boolean attempts = random.nextBoolean();
      RedisScript script = attempts ? RedisScript.ATTEMPT : RedisScript.END;
      assertThat(script.text()).containsOnlyOnce(SHORT);
      String[] arguments = attempts ? attempt() : end();
      String as = said(redis, script.text(), one, on(toldOne, arguments));
      String cut = said(redis, script.text().replace(SHORT, CUT), other, on(toldOther, arguments));
      assertThat(as).as("request %d, %s", i, String.join(" ", arguments)).isEqualTo(cut);
      List<String> messages = toldOne.since(redis, one);
      assertThat(messages)
          .as("told by request %d, %s", i, String.join(" ", arguments))
          .isEqualTo(toldOther.since(redis, other));
      told += messages.size();
      boolean grants = as.startsWith("G") || !messages.isEmpty();
      String retention = !grants ? "0" : attempts ? arguments[6] : RETENTION;
      assertThat(stored(redis, one, retention))
          .as("after request %d, %s", i, String.join(" ", arguments))
          .isEqualTo(stored(redis, other, retention))
          .isNotEqualTo("the key does not live long enough");
      granted += as.startsWith("G") ? 1 : 0;
    }
    return granted;
  }

  /** Puts the channels of a side in the place of the last argument. */
  private static String[] on(Told side, String[] arguments) {
    String[] mine = arguments.clone();
    mine[mine.length - 1] = side.prefix;
    return mine;
  }

  private void compareRenewals(RedisCommands<String, String> redis, String[] one, String[] other) {
    int number = random.nextInt(MOST);
    String lease = random.nextInt(10) == 0 ? TWO_DAYS : LEASE;
    String[] any = {LEASE, RETENTION, "test:client:", "aa-" + number, lease};
    String as = keptShortly(redis, one, number, lease);
    if (as.startsWith("H")) {
      shortlyKept++;
    } else {
      as = kept(redis, one, any);
    }
    assertThat(as).as("renewal of %d for %s", number, lease).isEqualTo(kept(redis, other, any));
    assertThat(stored(redis, one, "0"))
        .as("after the renewal of %d for %s", number, lease)
        .isEqualTo(stored(redis, other, "0"));
  }

  private static String keptShortly(
      RedisCommands<String, String> redis, String[] keys, int number, String lease) {
    String script = RedisScript.KEEP_HELD.text();
    assertThat(script).containsOnlyOnce(SHORT_ANSWER);
    return said(
        redis,
        afterTheFirstLine(script.replace(SHORT_ANSWER, IS_HELD), SHORT_ARGUMENTS),
        new String[] {keys[0]},
        new String[] {"aa-", Integer.toString(number), lease});
  }

  /** Puts something into a script that begins with what it may do. */
  static String afterTheFirstLine(String script, String more) {
    int second = script.indexOf('\n') + 1;
    return script.substring(0, second) + more + script.substring(second);
  }

  /** Returns the kind of the answer, and its flag: what is left between them differs by the time that passes. */
  private static String kept(
      RedisCommands<String, String> redis, String[] keys, String[] arguments) {
    return said(redis, RedisScript.KEEP.text(), keys, arguments)
        .replaceAll("^(H|Q) .* ([01])( .*)?$", "$1 $2");
  }

  private static String[] keys(String name) {
    return new String[] {"{" + name + "}", "{" + name + "}:q", "{" + name + "}:w"};
  }

  private String claim() {
    return "aa-" + random.nextInt(MOST);
  }

  private String giveUp() {
    return random.nextInt(10) == 0 ? LONG_AGO : SOON;
  }

  private String[] attempt() {
    String mode = random.nextInt(4) == 0 ? "Q" : "T";
    String lease = random.nextInt(10) == 0 ? TWO_DAYS : random.nextInt(3) == 0 ? NO_TIME : LEASE;
    String retention = random.nextBoolean() ? MINUTE : RETENTION;
    String claim = claim();
    String holder = "holder of " + claim;
    return new String[] {claim, mode, giveUp(), lease, holder, LEASE, retention, "test:client:"};
  }

  private String[] end() {
    String keepFor = random.nextInt(5) == 0 ? MINUTE : "0";
    return new String[] {claim(), keepFor, giveUp(), RETENTION, "test:client:"};
  }

  /** Returns the kind of the answer, and the flags behind the numbers; or the error. */
  static String said(
      RedisCommands<String, String> redis, String script, String[] keys, String[] arguments) {
    List<Object> answer;
    try {
      answer = redis.eval(script, ScriptOutputType.MULTI, keys, arguments);
    } catch (RedisCommandExecutionException e) {
      // what follows names the script
      return String.valueOf(e.getMessage()).replaceAll(" script: .*", "");
    }
    if (answer.size() > 1) {
      return String.valueOf(answer.get(1));
    }
    String packed = String.valueOf(answer.get(0));
    int flags = packed.charAt(0) == 'G' ? 1 : 2;
    StringBuilder said = new StringBuilder().append(packed.charAt(0));
    for (int i = packed.length() - flags; i < packed.length(); i++) {
      said.append((int) packed.charAt(i));
    }
    return said.toString();
  }

  private static String stored(
      RedisCommands<String, String> redis, String[] keys, String retention) {
    return redis.eval(STORED, ScriptOutputType.VALUE, keys, retention);
  }
}
