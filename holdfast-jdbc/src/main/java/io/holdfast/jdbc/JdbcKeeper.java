// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Renews, on a connection of its own that nothing else can take; and begins what deletes old rows, on the others. */
final class JdbcKeeper {
  private static final int MOST_REMEMBERED = 1000;

  private final JdbcContext context;
  private final JdbcDialect dialect;
  private final JdbcLane lane;
  private final Waiting waiting;
  private final JdbcCleaner cleaner;

  /** Claims whose rows others had locked when they were last asked for; some may have ended since. The lane's thread's. */
  private final Set<ClaimId> locked = new HashSet<>();

  JdbcKeeper(JdbcContext context, JdbcLane lane, JdbcLane others, Waiting waiting) {
    this.context = context;
    this.dialect = context.dialect();
    this.lane = lane;
    this.waiting = waiting;
    this.cleaner = new JdbcCleaner(context, others);
  }

  CompletionStage<@Nullable Void> connect() {
    JdbcSchema schema = new JdbcSchema(context);
    return lane.submitFirst(session -> {
          schema.require(session);
          return dialect.now(session);
        })
        .<@Nullable Void>thenApply(nowUs -> {
          context.clock().heard(nowUs);
          cleaner.cleanFromNowOn();
          return null;
        });
  }

  CompletionStage<Map<ClaimId, Kept>> keep(List<Claim> claims) {
    return lane.submit(session -> keep(session, claims));
  }

  private Map<ClaimId, Kept> keep(JdbcSession session, List<Claim> claims) throws SQLException {
    Map<ClaimId, Kept> kept = new HashMap<>();
    Moment anchor = context.now();
    JdbcDialect.Extended extended = dialect.keep(session, claims, locked);
    if (locked.size() > MOST_REMEMBERED) {
      locked.clear();
    }
    claims.forEach(claim -> locked.remove(claim.id()));
    locked.addAll(extended.locked());
    List<Claim> fair = new ArrayList<>();
    for (Claim claim : claims) {
      JdbcDialect.Done done = extended.held().get(claim.id());
      if (done != null) {
        // also if the answer to the attempt that was granted is lost
        waiting.remove(claim.id());
        context.clock().heard(done.nowUs());
        kept.put(
            claim.id(),
            new Kept.Held(new Grant(done.revision(), anchor, claim.lease(), done.othersWait())));
      } else if (claim.fair()) {
        fair.add(claim);
      } else {
        kept.put(claim.id(), without(claim, waiting.contains(claim.id()), extended));
      }
    }
    if (!fair.isEmpty()) {
      Set<ClaimId> queued = dialect.refresh(session, fair, Waiting.WAITER_LEASE_US);
      for (Claim claim : fair) {
        // a granted claim's place in the queue may have been left behind by an attempt that crossed the grant
        boolean waits = queued.contains(claim.id())
            && (waiting.contains(claim.id()) || !extended.locked().contains(claim.id()));
        kept.put(claim.id(), without(claim, waits, extended));
      }
    }
    return kept;
  }

  /** What is told of a claim that was not extended. */
  private static Kept without(Claim claim, boolean waits, JdbcDialect.Extended extended) {
    if (waits) {
      return new Kept.Queued();
    }
    return extended.locked().contains(claim.id()) ? new Kept.Unknown() : new Kept.Gone();
  }

  void close() {
    lane.close();
  }
}
