// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import java.time.Duration;
import org.apache.zookeeper.Watcher;

/** What a waiter makes of the news about the node ahead of its own. */
final class Wakes implements Predecessor.Woken {
  private final ZooKeeperContext context;

  Wakes(ZooKeeperContext context) {
    this.context = context;
  }

  @Override
  public void changed(Predecessor which) {
    Link link = which.claim().session.link();
    if (link != null) {
      Watcher watcher = which.join(context.watches(), link);
      Link.unasked(link.data(which.path(), watcher).thenAccept(seen -> {
        if (seen.isAbsent()) {
          context.watches().absent(link, which.path());
          which.gone();
          deleted(which);
        }
      }));
    }
  }

  @Override
  public void deleted(Predecessor which) {
    OwnClaim own = which.claim();
    Claim claim = own.claim;
    Link link = own.session.link();
    Moment alive = own.session.lastAgreed();
    long lease = ZooKeeperContext.pushedNanos(claim);
    if (which.decides()
        && context.isFresh(alive, claim)
        && link != null
        && link.sessionId() == which.own().session()
        && own.grantedBy(which, context.now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos())) {
      // who has come behind us meanwhile was not seen
      context
          .events()
          .granted(
              claim.id(), new Grant(which.own().revision(), alive, Duration.ofNanos(lease), true));
    } else {
      context.events().lookAgain(claim.id());
    }
  }
}
