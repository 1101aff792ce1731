// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A back end. Its verbs never block the caller for longer than a short local operation; what takes longer happens on the
 * store's own threads, or on a caller's that waits anyway ({@link StoreRuntime#callerWaits}). {@link #keep} never blocks at
 * all: it is called on the timer.
 *
 * <p>A stage that fails means <em>unknown</em>, unless it fails with a {@link StoreException} that says {@link
 * StoreException#notApplied()}. A store never repeats a request by itself once it may have been applied, except where
 * the protocol makes that harmless. It need not time requests out: the engine does, and takes late answers too.
 *
 * <p>Every stored form carries a format number; a newer one is refused, never guessed.
 */
public interface LockStore extends AutoCloseable {
  /**
   * Returns what this store gives. No I/O; callable before {@link #start}.
   *
   * @return the guarantees
   */
  Guarantees guarantees();

  /**
   * Returns what the engine needs to know. No I/O; callable before {@link #start}.
   *
   * @return the traits
   */
  StoreTraits traits();

  /**
   * Returns the store's address for people: never a password.
   *
   * @return for example {@code sqlite:/var/lib/app/locks.db}
   */
  String describe();

  /**
   * Gets to work; called once, before every other verb that does I/O. Does not contact the store yet.
   *
   * @param runtime what the engine lends
   * @param events whom to tell
   */
  void start(StoreRuntime runtime, StoreEvents events);

  /**
   * Contacts the store, and makes ready what it needs there.
   *
   * @return completes when the store is usable; fails with a {@link StoreException}, or with a {@link
   *     io.holdfast.ConfigurationException} if what is there cannot be used
   */
  CompletionStage<@Nullable Void> connect();

  /**
   * Returns what the store's clock reads, as well as can be known without asking.
   *
   * @return an estimate; used for {@code giveUpAt} only, which the store judges by its own clock
   */
  Instant time();

  /**
   * Asks for the lock. Idempotent for one claim: if it holds the lock already, the answer is the same grant. Never
   * applied after {@code giveUpAt}, which is what makes an {@link #end} final.
   *
   * @param claim who asks
   * @param mode what to leave behind if the lock is busy
   * @param giveUpAt in the store's time: after it the request must not be applied
   * @return the answer
   */
  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt);

  /**
   * Extends held claims to their full lease from now, and refreshes queued ones. Never creates and never revives. A
   * queued claim that was granted meanwhile is answered {@link Kept.Held}.
   *
   * @param claims own claims
   * @return an answer for each; a missing one means unknown
   */
  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims);

  /**
   * Ends a claim, held or queued; release and withdraw are one. Only ever touches what belongs to this claim.
   *
   * @param claim the claim
   * @param keepFor if the claim holds the lock: keep the lock taken, without a holder, until the store's time of the
   *     grant plus this; zero frees it at once
   * @param lastGiveUp the latest {@code giveUpAt} of the claim's attempts; {@link Ended#isFinal()} is true only past it
   * @return what was found
   */
  CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp);

  /**
   * Lists this client's own claims that the store has, held or queued, so that the engine can end those that it no
   * longer knows.
   *
   * @return the claims; empty on stores where a forgotten claim ends with its own lease
   */
  CompletionStage<Map<ClaimId, LockKey>> own();

  /**
   * Looks at one lock.
   *
   * @param name the lock
   * @return what there is to know; empty if it is neither taken nor waited for
   */
  CompletionStage<Optional<LockInfo>> inspect(LockKey name);

  /**
   * Says what is known of the waiters of a lock of which {@link #inspect} returns nothing. No I/O.
   *
   * @return exactly none if the store knows all waiters; else, as by default, that there may be some
   */
  default Waiters waitersOfFreeLock() {
    return Waiters.atLeast(0);
  }

  /**
   * Lists a part of the taken and awaited locks, in any order. One that is taken or awaited for as long as the listing goes on is
   * in some part, and may be in several. A part takes no longer than a request, whatever else is in the store: it may
   * have no locks, and not be the last.
   *
   * @param prefix what names begin with
   * @param page empty for the first, then {@link LockPage#next()}
   * @return some locks
   */
  CompletionStage<LockPage> list(String prefix, Optional<String> page);

  /**
   * Ends a hold that somebody looked at, without its holder's consent; or lets go of a kept lock.
   *
   * @param name the lock
   * @param revision the grant that was seen; another one is left alone
   * @return whether it was ended
   */
  CompletionStage<Boolean> evict(LockKey name, long revision);

  /**
   * Looks at the store with an operator's eyes.
   *
   * @return findings, for {@code doctor}
   */
  CompletionStage<List<Finding>> diagnose();

  /**
   * Returns what {@code ddl} prints. No I/O.
   *
   * @return statements that make the schema by hand; empty where there is none
   */
  List<String> schema();

  /**
   * Returns what {@code ddl --data} prints beside {@link #schema()}: tables of what guards an application's own data in the
   * same database, wherever its locks are. No I/O.
   *
   * @return statements that make them by hand; empty unless the store says otherwise
   */
  default List<String> dataSchema() {
    return List.of();
  }

  /** Lets go of connections and threads. Stages that are under way may fail. */
  @Override
  void close();
}
