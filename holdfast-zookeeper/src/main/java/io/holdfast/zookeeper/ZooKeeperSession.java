// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.jspecify.annotations.Nullable;

/**
 * A Curator framework, and the session that it has just now. When a session has ended the framework begins another one, which
 * inherits nothing.
 *
 * <p>Curator tells of the connection on a thread of its own. Requests take the link that was told last: one that is no longer connected
 * fails, and is never made anew on another session.
 */
final class ZooKeeperSession implements ConnectionStateListener {
  private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");

  private final CuratorFramework curator;
  private final boolean ours;
  private final Ticker ticker;
  private final Listener listener;
  private final CompletableFuture<Link> first = new CompletableFuture<>();
  private volatile Moment acknowledged;

  /** The session while it is connected. */
  private volatile @Nullable Link link;

  /** The session that was connected last; read and written on Curator's thread. */
  private @Nullable Link known;

  /** Who hears of the connection, on Curator's thread. */
  interface Listener {
    void disturbed();

    /** It is connected again; a session lasts so long without a sign of life. */
    void restored(int sessionMillis);

    /** A session is over, and with it its nodes, at once or when the server has noticed. */
    void ended(ZooKeeperSession session, long sessionId);
  }

  /**
   * Makes a session.
   *
   * @param curator the framework
   * @param ours whether it is started and closed here
   * @param ticker the local clocks
   * @param listener who hears of the connection
   */
  ZooKeeperSession(CuratorFramework curator, boolean ours, Ticker ticker, Listener listener) {
    this.curator = curator;
    this.ours = ours;
    this.ticker = ticker;
    this.listener = listener;
    this.acknowledged = ticker.now();
  }

  /** Begins to connect; does not wait. */
  void start() {
    curator.getConnectionStateListenable().addListener(this);
    if (ours) {
      curator.start();
    } else if (curator.getZookeeperClient().isConnected()) {
      // it was told before we listened
      connected();
    }
  }

  /** Completes with the first connection; never fails. */
  CompletableFuture<Link> first() {
    return first;
  }

  /** Returns the session while it is connected. */
  @Nullable
  Link link() {
    return link;
  }

  Moment now() {
    return ticker.now();
  }

  /** Returns when the last of the requests that the server has answered was sent: the session is as young as that. */
  Moment lastAcknowledged() {
    return acknowledged;
  }

  /** Called on the event thread of the handle; where two handles overlap, one of them tells of the other's past only. */
  void acknowledged(Moment sent) {
    if (sent.nanos() - acknowledged.nanos() > 0) {
      acknowledged = sent;
    }
  }

  @Override
  public void stateChanged(CuratorFramework client, ConnectionState state) {
    switch (state) {
      case CONNECTED -> connected();
      case RECONNECTED -> {
        Link again = connected();
        if (again != null) {
          listener.restored(again.handle().getSessionTimeout());
        }
      }
      case SUSPENDED, READ_ONLY -> {
        link = null;
        listener.disturbed();
      }
      case LOST -> {
        link = null;
        Link over = known;
        known = null;
        if (over != null) {
          listener.ended(this, over.sessionId());
        }
        listener.disturbed();
      }
    }
  }

  /** Takes the session that there is now; null if it is gone again. */
  private synchronized @Nullable Link connected() {
    try {
      Link fresh = new Link(this, curator.getZookeeperClient().getZooKeeper());
      Link before = known;
      if (before != null && before.sessionId() != fresh.sessionId()) {
        listener.ended(this, before.sessionId());
      }
      known = fresh;
      link = fresh;
      first.complete(fresh);
      return fresh;
    } catch (Exception e) {
      // it is gone again: another state will be told
      LOG.log(Level.DEBUG, "the connection broke as soon as it was made", e);
      return null;
    }
  }

  /** Lets go of it; ends the session if it is ours. May wait for the server. */
  void close() {
    curator.getConnectionStateListenable().removeListener(this);
    link = null;
    if (ours) {
      curator.close();
    }
  }
}
