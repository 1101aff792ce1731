// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * A Curator framework, and the session that it has just now. When a session has ended the framework begins another one, which
 * inherits nothing.
 *
 * <p>Curator tells of the connection on a thread of its own, and not all: {@link #look} sees the rest. Requests take
 * the link that was told last: one that is no longer connected fails, and is never made anew on another session.
 */
final class ZooKeeperSession implements ConnectionStateListener {
  private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");

  private final CuratorFramework curator;
  private final boolean ours;
  private final String nothing;
  private final Ticker ticker;
  private final Listener listener;
  private final CompletableFuture<Link> first = new CompletableFuture<>();
  private final CuratorListener closes = (client, event) -> {
    if (event.getType() == CuratorEventType.CLOSING) {
      closing();
    }
  };
  private volatile Moment agreed;
  private volatile Moment touched;

  /** How often it was looked at since the server has answered. */
  private final AtomicInteger looksUnheard = new AtomicInteger();

  /** How many claims are on it; negative when no more come. */
  private final AtomicInteger claims = new AtomicInteger();

  private volatile Moment left;

  /** The session while it is connected. */
  private volatile @Nullable Link link;

  /** The session that was connected last. */
  private @Nullable Link known;

  /** Whether the handle went without a word of Curator's, who may say nothing of the next one either. */
  private boolean replaced;

  private volatile boolean started;
  private volatile boolean closing;

  /** Who hears of the connection, on Curator's thread or the timer. */
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
   * @param nothing a path where nothing ever is
   * @param ticker the local clocks
   * @param listener who hears of the connection
   */
  ZooKeeperSession(
      CuratorFramework curator, boolean ours, String nothing, Ticker ticker, Listener listener) {
    this.curator = curator;
    this.ours = ours;
    this.nothing = nothing;
    this.ticker = ticker;
    this.listener = listener;
    this.agreed = ticker.now();
    this.touched = agreed;
    this.left = agreed;
  }

  /** Begins to connect; does not wait. */
  void start() {
    started = true;
    curator.getConnectionStateListenable().addListener(this);
    if (ours) {
      curator.start();
      return;
    }
    try {
      curator.getCuratorListenable().addListener(closes);
    } catch (UnsupportedOperationException e) {
      LOG.log(Level.DEBUG, "a client with a namespace does not tell when it is closed", e);
    }
    if (curator.getZookeeperClient().isConnected()) {
      // it was told before we listened
      connected();
    }
  }

  /**
   * Lets Curator make the handle that it could not make at the start, for want of a file descriptor or a thread: it makes
   * one when it is asked for it, and we never ask before we are told of a connection.
   */
  void startAgain() {
    if (first.isDone()) {
      return;
    }
    try {
      ZooKeeper unused = curator.getZookeeperClient().getZooKeeper();
    } catch (Exception e) {
      LOG.log(Level.DEBUG, "there is still no handle", e);
    }
  }

  /** Counts a claim on this session. Returns false if the session is being closed because it was unused. */
  boolean enter() {
    return claims.updateAndGet(many -> many < 0 ? many : many + 1) > 0;
  }

  /** A claim is over, and has left nothing on it. */
  void leave() {
    left = ticker.now();
    claims.decrementAndGet();
  }

  /** Lets no more claims come if none was on it for so long. Returns whether it did: then the session is to be closed. */
  boolean retire(long unusedNanos) {
    return ticker.elapsedNanos(left) >= unusedNanos && claims.compareAndSet(0, Integer.MIN_VALUE);
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

  /** Returns when the last of the requests that a majority has agreed on was sent: the session is as young as that. */
  Moment lastAgreed() {
    return agreed;
  }

  /** Called on the event thread of the handle; where two handles overlap, one of them tells of the other's past only. */
  void agreed(Moment sent) {
    if (sent.nanos() - agreed.nanos() > 0) {
      agreed = sent;
    }
  }

  /**
   * Sends a sign of life if there was none for so long. A server passes on to the leader what it has heard until then,
   * not the requests themselves: however recent a request that was agreed on, the session is only as young as the last
   * sign that was passed on.
   */
  void touch(long everyNanos) {
    Link now = link;
    if (now != null && ticker.elapsedNanos(touched) >= everyNanos) {
      touched = ticker.now();
      now.touch();
    }
  }

  /** A sign of life was answered, or is lost with its connection. */
  void heard(Link on) {
    if (on.equals(link)) {
      looksUnheard.set(0);
    }
  }

  /**
   * Hangs up on a server that has not answered for so many looks, so that the client asks another one while the holds can
   * still be renewed: by itself it waits for two thirds of the session. Looks are counted, and not time: a process that stood
   * still has the answers before it, and has only to read them.
   */
  void leaveIfSilent(int mostLooks) {
    Link now = link;
    if (now == null || looksUnheard.incrementAndGet() <= mostLooks) {
      return;
    }
    looksUnheard.set(0);
    LOG.log(Level.INFO, "a ZooKeeper server does not answer: the session goes to another one");
    new DaemonThread(
            () -> {
              try {
                now.hangUp();
              } catch (IOException e) {
                LOG.log(Level.DEBUG, "the connection had been broken already", e);
              }
            },
            "holdfast-zookeeper-hang-up")
        .start();
  }

  @Override
  public synchronized void stateChanged(CuratorFramework client, ConnectionState state) {
    switch (state) {
      case CONNECTED -> connected();
      case RECONNECTED -> reconnected();
      case SUSPENDED, READ_ONLY -> {
        link = null;
        listener.disturbed();
      }
      case LOST -> {
        Link now = link;
        if (now == null || now.handle().getState() != ZooKeeper.States.CONNECTED) {
          over();
        }
        // else it is told late, of the session before: a listener ahead of ours kept it
      }
    }
  }

  private void reconnected() {
    Link again = connected();
    if (again != null) {
      listener.restored(again.handle().getSessionTimeout());
    }
  }

  private void over() {
    link = null;
    Link last = known;
    known = null;
    if (last != null) {
      listener.ended(this, last.sessionId());
    }
    listener.disturbed();
  }

  /** The application closes its client, and with it the session: the server ends that at once. */
  private synchronized void closing() {
    closing = true;
    over();
  }

  /** Whether the application has closed its client: whatever is still answered is void. */
  boolean isClosing() {
    return closing;
  }

  /**
   * Notices what Curator does not tell: that the handle was closed, or replaced while the framework takes itself for
   * connected; or that there is a connection again, which Curator tells once: a listener before ours may keep it from us
   * for as long as it waits for a lock, and the handle may not have been given to us then. Called on the timer.
   */
  synchronized void look() {
    Link now = link;
    if (now != null && !now.handle().getState().isAlive()) {
      over();
      replaced = true;
    }
    boolean untold = started && link == null && !closing;
    if ((replaced || untold) && curator.getZookeeperClient().isConnected()) {
      reconnected();
    }
  }

  /** Whether no session can come any more: the application has closed its client. */
  boolean isStopped() {
    return curator.getState() == CuratorFrameworkState.STOPPED;
  }

  /** Takes the session that there is now; null if it is gone again. */
  private synchronized @Nullable Link connected() {
    try {
      ZooKeeper handle = curator.getZookeeperClient().getZooKeeper();
      if (closing || handle.getState() != ZooKeeper.States.CONNECTED) {
        // gone again, or it may only be read: another state will be told
        return null;
      }
      Link fresh = new Link(this, handle, nothing, ticker);
      Link before = known;
      if (before != null && before.sessionId() != fresh.sessionId()) {
        listener.ended(this, before.sessionId());
      }
      known = fresh;
      looksUnheard.set(0);
      link = fresh;
      replaced = false;
      first.complete(fresh);
      return fresh;
    } catch (Exception e) {
      // it is gone again: another state will be told
      LOG.log(Level.DEBUG, "the connection broke as soon as it was made", e);
      return null;
    }
  }

  /** Tells that a session is over that was closed because it was unused. */
  void closed() {
    Link last;
    synchronized (this) {
      last = known;
      known = null;
    }
    if (last != null) {
      listener.ended(this, last.sessionId());
    }
  }

  /** Lets go of it; ends the session if it is ours. May wait for the server, and may be called twice. */
  void close() {
    curator.getConnectionStateListenable().removeListener(this);
    synchronized (this) {
      closing = true;
      link = null;
      replaced = false;
    }
    if (ours) {
      curator.close();
      return;
    }
    try {
      curator.getCuratorListenable().removeListener(closes);
    } catch (UnsupportedOperationException e) {
      LOG.log(Level.DEBUG, "a client with a namespace was not listened to", e);
    }
  }
}
