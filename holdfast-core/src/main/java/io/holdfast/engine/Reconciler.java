// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ends claims of this client that the store has and the engine does not know any more. On stores where claims share a
 * session a forgotten one would live as long as the session.
 *
 * <p>A claim is known before its first attempt is sent and until its end is final, so what the store lists and the
 * engine does not know is nobody's.
 */
final class Reconciler extends Timed {
  private static final System.Logger LOG = System.getLogger("io.holdfast");
  private static final Holder NOBODY = new Holder("reconciler", "", 0, "", "");

  private final Engine engine;

  Reconciler(Engine engine) {
    this.engine = engine;
  }

  /** Runs once, after what was under way when the connection came back has been answered. */
  void soon() {
    engine.timer.set(this, engine.ticker.nanos() + engine.requestTimeoutNanos());
  }

  @Override
  void due() {
    engine.ask(engine.store::own).whenComplete(this::listed);
  }

  private void listed(@Nullable Map<ClaimId, LockKey> own, @Nullable Throwable failure) {
    if (own == null) {
      LOG.log(Level.DEBUG, "the store did not list this client's claims; tried again", failure);
      soon();
      return;
    }
    own.forEach((id, key) -> {
      if (!engine.knows(id)) {
        LOG.log(Level.WARNING, "lock={0} claim={1}: forgotten claim ended", key, id);
        Claim claim = new Claim(id, key, 1, 1, Duration.ofSeconds(1), false, NOBODY);
        engine.end(claim, Duration.ZERO, engine.store.time()).whenComplete((ended, trouble) -> {
          if (trouble != null) {
            soon();
          }
        });
      }
    });
  }
}
