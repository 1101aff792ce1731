// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException;
import io.holdfast.WriteUnknownException;
import io.holdfast.spi.DurationText;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;

/**
 * One-time tokens against double submits: a form, or an API, is given a token; of all who come back with it, one is
 * accepted. They have nothing to do with the fencing tokens of holds.
 *
 * <pre>{@code
 * String token = tokens.issue("user:42", "order", Duration.ofMinutes(10));   // goes into the form
 * if (tokens.consume(token, "user:42", "order") == OneTimeTokens.Result.ACCEPTED) {
 *   orders.place(order);
 * }
 * }</pre>
 *
 * <h2>Guarantees</h2>
 *
 * Of any number of calls with one token, in whatever processes, at most one is accepted. A token cannot be guessed, is
 * good for the owner and the purpose that it was issued for, and for nobody and nothing else, and ends with its time. The
 * server has only hashes of the token and of what it is bound to.
 *
 * <h2>Not guaranteed</h2>
 *
 * That accepted work is done: a process that dies after it was accepted has used the token up. A failover or a restored
 * snapshot can bring a consumed token back; a flush or an eviction loses tokens. Where that matters, keep the token with
 * what was done, under a unique key.
 *
 * <h2>Threads</h2>
 *
 * Thread-safe.
 *
 * <h2>Time</h2>
 *
 * The server's clock decides when a token ends. A call waits for up to 2 s.
 */
public final class OneTimeTokens implements AutoCloseable {
  private static final int RANDOM_BYTES = 16;
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(366);
  private static final String PREFIX = "holdfast:once:{";
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

  private final RedisCalls calls;

  /** What became of a token. */
  public enum Result {
    /** It was there, is used up now, and nobody else will be accepted with it. */
    ACCEPTED,
    /** It was consumed already, its time is up, or there never was one. */
    GONE,
    /** It was issued to another owner or for another purpose; it stays as it is. */
    FOREIGN
  }

  private OneTimeTokens(RedisCalls calls) {
    this.calls = calls;
  }

  /**
   * Makes an object on the application's own client, and opens a connection with it, which {@link #close()} closes; the
   * client is left open. Blocks until the connection is there.
   *
   * @param client a client that was made with the address of its server, or of its sentinels
   * @return what issues and consumes tokens
   * @throws StoreUnavailableException if there is no connection to be had
   */
  public static OneTimeTokens using(RedisClient client) {
    return new OneTimeTokens(RedisCalls.using(client));
  }

  /**
   * Makes an object on the application's own client of a cluster; otherwise as {@link #using(RedisClient)}.
   *
   * @param client a client that was made with addresses of some nodes
   * @return what issues and consumes tokens
   * @throws StoreUnavailableException if there is no connection to be had
   */
  public static OneTimeTokens using(RedisClusterClient client) {
    return new OneTimeTokens(RedisCalls.using(client));
  }

  /**
   * Makes an object on a connection of the application, to one server or to a cluster. It is not closed here. It should
   * not repeat commands after a broken connection (Lettuce: {@code autoReconnect}): a repeated consume whose first copy
   * was accepted finds the token gone.
   *
   * @param commands of a connection, as {@code connection.async()} returns them
   * @return what issues and consumes tokens
   */
  public static OneTimeTokens on(RedisClusterAsyncCommands<byte[], byte[]> commands) {
    return new OneTimeTokens(RedisCalls.on(commands));
  }

  /**
   * Issues a token. When it fails, no token is out: one that the server may have kept is known to nobody, and ends by
   * itself.
   *
   * @param owner to whom: a user, a session
   * @param purpose for what
   * @param expiresIn for how long it is good, 1 ms to 366 days
   * @return 22 characters that are safe in a URL
   * @throws StoreUnavailableException if the server could not be reached, or refused the request
   * @throws WriteUnknownException if no answer came
   * @throws InterruptedException if the thread is interrupted, before or while it waits
   * @throws IllegalArgumentException if the time is out of range
   */
  public String issue(String owner, String purpose, Duration expiresIn)
      throws InterruptedException {
    Objects.requireNonNull(expiresIn, "expiresIn");
    if (expiresIn.compareTo(SHORTEST) < 0 || expiresIn.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "a token is good for 1 ms to 366 days, not " + DurationText.exact(expiresIn));
    }
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    String token = TEXT.encodeToString(random);
    var answer = calls.await(calls.run(
        RedisScript.ONCE_ISSUE,
        key(token),
        bound(owner, purpose),
        RedisAnswer.argument(expiresIn.toMillis())));
    if (!RedisAnswer.text(answer, 1).equals("1")) {
      throw new IllegalStateException("128 random bits came twice: the random source is broken");
    }
    return token;
  }

  /**
   * Consumes a token. Ways to return:
   *
   * <ul>
   *   <li>{@link Result#ACCEPTED}: once for each token, to one caller;
   *   <li>{@link Result#GONE}: consumed, ended, or never issued; do not do the work;
   *   <li>{@link Result#FOREIGN}: not this owner's, or not for this purpose; its owner can still use it;
   *   <li>{@link StoreUnavailableException}: the server could not be reached, or refused the request; the token was not
   *       consumed;
   *   <li>{@link WriteUnknownException}, {@link InterruptedException}: the token may have been consumed, by this call,
   *       without anybody having been told that he was accepted. Calling again is safe: {@code ACCEPTED} means that this
   *       call had not consumed it; {@code GONE} leaves open whether it had, or another submit: then only a look at
   *       whether the work was done decides, and a new token if it was not.
   * </ul>
   *
   * @param token what came back; anything else than a token is {@code GONE}
   * @param owner to whom it must have been issued
   * @param purpose for what
   * @return what became of it
   * @throws StoreUnavailableException if the token was not consumed because the server could not be reached, or refused
   * @throws WriteUnknownException if no answer came
   * @throws InterruptedException if the thread is interrupted, before or while it waits
   */
  public Result consume(String token, String owner, String purpose) throws InterruptedException {
    var answer =
        calls.await(calls.run(RedisScript.ONCE_CONSUME, key(token), bound(owner, purpose)));
    return switch (RedisAnswer.text(answer, 1)) {
      case "A" -> Result.ACCEPTED;
      case "F" -> Result.FOREIGN;
      default -> Result.GONE;
    };
  }

  /** The key is of the token's hash: who can read keys cannot use tokens. */
  private static byte[][] key(String token) {
    Objects.requireNonNull(token, "token");
    String hash = TEXT.encodeToString(hash(token.getBytes(StandardCharsets.UTF_8)));
    return new byte[][] {RedisKeys.ascii(PREFIX + hash + "}")};
  }

  /** The length of the first keeps one pair from being taken for another. */
  private static byte[] bound(String owner, String purpose) {
    Objects.requireNonNull(owner, "owner");
    Objects.requireNonNull(purpose, "purpose");
    String both = owner.length() + ":" + owner + purpose;
    return RedisAnswer.argument(TEXT.encodeToString(hash(both.getBytes(StandardCharsets.UTF_8))));
  }

  private static byte[] hash(byte[] text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  /** Closes the connection, if it was opened here. */
  @Override
  public void close() {
    calls.close();
  }
}
