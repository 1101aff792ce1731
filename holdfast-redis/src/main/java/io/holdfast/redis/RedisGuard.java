// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Hold;
import io.holdfast.StaleTokenException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.WriteUnknownException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Guards values in Redis with fencing tokens: a value is written only if its token is not older than the newest one that
 * was seen for its key. So a holder that was paused beyond its lease cannot overwrite what the next one has written. The
 * holds may be of any store; the tokens of one key must all be of one lock.
 *
 * <pre>{@code
 * try (RedisGuard guard = RedisGuard.using(client); Hold hold = lock.acquire()) {
 *   guard.write("stock:7", bytes, hold.token());
 * }
 * }</pre>
 *
 * <p>The value is a plain string at its key, and can be read with {@code GET}. Its newest token is kept beside it, at the
 * same key in braces and {@code :token} ({@code {stock:7}:token}); where the key has a hash tag of its own, without
 * further braces ({@code stock:{7}:token}). So in a cluster both are in one slot. Neither has an end: a token must be
 * there for as long as somebody may come with an older one.
 *
 * <h2>Guarantees</h2>
 *
 * The check and the write are one step in the server. Tokens are compared as the 63-bit integers that they are.
 *
 * <h2>Not guaranteed</h2>
 *
 * What writes to the key without this guard is not checked. Writes with equal tokens are accepted in the order in which
 * they arrive: a client that repeats commands after a broken connection (Lettuce does, unless {@code autoReconnect} is
 * off) may repeat a write behind a later one of the same hold; and while a cluster moves the key to another node, one that is
 * sent there may come after a later one. Wait for each write where that matters. A failover, a flush or an eviction that forgets the token
 * lets an older one pass.
 *
 * <h2>Threads</h2>
 *
 * Thread-safe.
 *
 * <h2>Time</h2>
 *
 * No clock is involved. A blocking call waits for up to 2 s.
 */
public final class RedisGuard implements AutoCloseable {
  private static final byte[] TOKEN = ":token".getBytes(StandardCharsets.UTF_8);

  private final RedisCalls calls;

  RedisGuard(RedisCalls calls) {
    this.calls = calls;
  }

  /**
   * Makes a guard on the application's own client, and opens a connection with it, which {@link #close()} closes; the
   * client is left open. Blocks until the connection is there.
   *
   * @param client a client that was made with the address of its server, or of its sentinels
   * @return a guard
   * @throws StoreUnavailableException if there is no connection to be had
   */
  public static RedisGuard using(RedisClient client) {
    return new RedisGuard(RedisCalls.using(client));
  }

  /**
   * Makes a guard on the application's own client of a cluster; otherwise as {@link #using(RedisClient)}.
   *
   * @param client a client that was made with addresses of some nodes
   * @return a guard
   * @throws StoreUnavailableException if there is no connection to be had
   */
  public static RedisGuard using(RedisClusterClient client) {
    return new RedisGuard(RedisCalls.using(client));
  }

  /**
   * Makes a guard on a connection of the application, to one server or to a cluster. It is not closed here.
   *
   * @param commands of a connection, as {@code connection.async()} returns them
   * @return a guard
   */
  public static RedisGuard on(RedisClusterAsyncCommands<byte[], byte[]> commands) {
    return new RedisGuard(RedisCalls.on(commands));
  }

  /**
   * Writes a value, unless a newer token was seen for its key. Ways to return:
   *
   * <ul>
   *   <li>normally: it was written, and older tokens are refused from now on;
   *   <li>{@link StaleTokenException}: a newer token was seen, and nothing was changed. The hold is over; whatever
   *       belongs to the same work has to be given up;
   *   <li>{@link StoreUnavailableException}: the server could not be reached, or refused the request, and nothing was
   *       changed;
   *   <li>{@link WriteUnknownException}: no answer came in 2 s, or the connection broke. The value was written, or is
   *       not, or will be a moment later. While no other write with this token was sent, the same write may be repeated:
   *       if it succeeds, the value is there, and if it is stale, it no longer matters;
   *   <li>{@link InterruptedException}: as for the one before; the interrupt is not kept.
   * </ul>
   *
   * @param key the value's key; in UTF-8
   * @param value the value; an expiry that the key had is removed
   * @param token {@link Hold#token()} of the hold under which it is written
   * @throws StaleTokenException if a newer token was seen
   * @throws StoreUnavailableException if nothing was changed, for another reason
   * @throws WriteUnknownException if it is not known whether it was written
   * @throws InterruptedException if the thread is interrupted, before or while it waits
   * @throws IllegalArgumentException if the token is not positive, or the key is empty or has a closing brace and no
   *     hash tag: its token could not be kept in the same slot
   */
  public void write(String key, byte[] value, long token) throws InterruptedException {
    var unused = calls.await(writeAsync(key, value, token));
  }

  /**
   * The same without waiting.
   *
   * @param key the value's key
   * @param value the value
   * @param token the token of the hold under which it is written
   * @return completes when it was written; fails with what {@link #write} throws. It waits as long as the connection
   *     does. Cancelling it recalls nothing
   */
  public CompletableFuture<@Nullable Void> writeAsync(String key, byte[] value, long token) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    if (token <= 0) {
      throw new IllegalArgumentException("a token is positive, this one is " + token);
    }
    byte[] name = key.getBytes(StandardCharsets.UTF_8);
    byte[][] of = {name, tokenKey(name)};
    return calls
        .run(RedisScript.GUARD, of, RedisAnswer.argument(digits(token)), value)
        .thenApply(answer -> written(key, token, answer));
  }

  private static String digits(long token) {
    String plain = Long.toString(token);
    return "0".repeat(19 - plain.length()) + plain;
  }

  private @Nullable Void written(String key, long token, List<Object> answer) {
    if (RedisAnswer.text(answer, 1).equals("S")) {
      throw new StaleTokenException(key, calls.store(), token, RedisAnswer.number(answer, 2));
    }
    return null;
  }

  /** Returns the key of the newest token: what decides over the slot of the one decides over that of the other. */
  static byte[] tokenKey(byte[] key) {
    int open = indexOf(key, '{', 0);
    int close = open < 0 ? -1 : indexOf(key, '}', open + 1);
    boolean hasTag = close > open + 1;
    if (key.length == 0 || (!hasTag && indexOf(key, '}', 0) >= 0)) {
      throw new IllegalArgumentException(
          "a guarded key is not empty, and has no closing brace but that of a hash tag");
    }
    byte[] name = new byte[key.length + TOKEN.length + (hasTag ? 0 : 2)];
    int from = hasTag ? 0 : 1;
    System.arraycopy(key, 0, name, from, key.length);
    if (!hasTag) {
      name[0] = '{';
      name[key.length + 1] = '}';
    }
    System.arraycopy(TOKEN, 0, name, name.length - TOKEN.length, TOKEN.length);
    return name;
  }

  private static int indexOf(byte[] key, char wanted, int from) {
    for (int i = from; i < key.length; i++) {
      if (key[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  /** Closes the connection, if it was opened here. */
  @Override
  public void close() {
    calls.close();
  }
}
