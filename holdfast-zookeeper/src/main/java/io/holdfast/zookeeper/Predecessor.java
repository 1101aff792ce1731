// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.util.Objects;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * The watch on the node right ahead of a waiting claim's, and on no other. Where that node had the lock when it was seen, its
 * deletion is the grant: all that came before it are gone, and nobody can come between. It is not, if that node was
 * changed: whoever is going to keep the lock changes its node first, and leaves a marker when it deletes it. Nor if the
 * connection broke in between: of a node that was changed and then deleted meanwhile, a server tells the deletion only.
 */
final class Predecessor implements Watcher {
  private final OwnClaim claim;
  private final OwnClaim.Node own;
  private final String path;
  private final boolean held;
  private final String first;
  private final Woken woken;
  private volatile boolean seen;
  private volatile boolean gone;
  private volatile boolean changed;
  private volatile Watches.@Nullable Shared shared;

  /** Who hears of it, on the event thread. */
  interface Woken {
    void changed(Predecessor which);

    void deleted(Predecessor which);
  }

  /**
   * Makes a watch; sets none.
   *
   * @param claim who waits
   * @param own its node
   * @param path the node ahead
   * @param held whether that one had the lock, and nothing else could have it first
   * @param first the node that was the first in the queue
   * @param woken who hears of it
   */
  Predecessor(
      OwnClaim claim, OwnClaim.Node own, String path, boolean held, String first, Woken woken) {
    this.claim = claim;
    this.own = own;
    this.path = path;
    this.held = held;
    this.first = first;
    this.woken = woken;
  }

  OwnClaim claim() {
    return claim;
  }

  OwnClaim.Node own() {
    return own;
  }

  String path() {
    return path;
  }

  /** Returns the node that was the first in the queue. */
  String first() {
    return first;
  }

  /** Returns a watch on the same node that has heard nothing yet. */
  Predecessor anew() {
    return new Predecessor(claim, own, path, held, first, woken);
  }

  /** The node is not there any more, nor will it be: no path is used twice. */
  void gone() {
    gone = true;
  }

  boolean isGone() {
    return gone;
  }

  /** Whether it does as well as another one. */
  boolean serves(Predecessor other) {
    return !changed
        && path.equals(other.path)
        && own.path().equals(other.own.path())
        && held == other.held;
  }

  /** Hears what is told of the node; returns what to watch it with. */
  Watcher join(Watches watches, Link link) {
    Watches.Shared joined = watches.join(link, path, this);
    shared = joined;
    if (!claim.isWatching(this)) {
      leave();
    }
    return joined;
  }

  /** Hears no more. */
  void leave() {
    Watches.Shared joined = shared;
    if (joined != null) {
      joined.leave(this);
    }
  }

  /** The node was seen with this version of its data. */
  void seen(int version) {
    if (version > 0) {
      changed = true;
    }
    seen = true;
  }

  /** Whether its deletion alone says that the claim has the lock. */
  boolean decides() {
    return held && seen && !changed;
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() == EventType.None) {
      if (event.getState() != KeeperState.SyncConnected) {
        changed = true;
      }
      return;
    }
    if (!claim.isWatching(this) || !Objects.equals(event.getPath(), path)) {
      // over
      return;
    }
    switch (event.getType()) {
      case NodeDataChanged -> {
        changed = true;
        woken.changed(this);
      }
      case NodeDeleted -> {
        gone = true;
        woken.deleted(this);
      }
      default -> {
        // nothing else is asked for
      }
    }
  }
}
