// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.SharedRequest;
import io.holdfast.zookeeper.Reply.Children;
import io.holdfast.zookeeper.Reply.Created;
import io.holdfast.zookeeper.Reply.Data;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One session, as long as it lasts: a handle of ZooKeeper's own client has one session for life. Requests are sent in the
 * order of the calls, the server works them off in that order, and nothing is repeated. Calls do not block; their stages
 * complete on the handle's event thread, always normally.
 */
final class Link {
  /** What a claim's node takes in a list, with room to spare: its name has about 70 characters. */
  private static final int LISTED_BYTES = 100;

  /** A queue is short if it can become so many times as long, and the client still takes its list. */
  private static final int GROWTH = 100;

  /** More are not remembered: they only save requests. */
  private static final int MOST_SHORT = 1_000;

  /** How long an unanswered request to agree is shared. */
  private static final Duration SHARED_FOR = Duration.ofMillis(100);

  private final ZooKeeperSession session;
  private final ZooKeeper handle;
  private final long sessionId;
  private final String nothing;
  private final SharedRequest<Reply<Boolean>> agreement;

  /** When folders with short queues were listed last. */
  private final Map<String, Moment> shortAt = new ConcurrentHashMap<>();

  /** The path is one where nothing ever is. */
  Link(ZooKeeperSession session, ZooKeeper handle, String nothing, Ticker ticker) {
    this.session = session;
    this.nothing = nothing;
    this.agreement = new SharedRequest<>(ticker, SHARED_FOR);
    this.handle = handle;
    this.sessionId = handle.getSessionId();
  }

  /** Which session: the owner of the ephemeral nodes that are made here. */
  long sessionId() {
    return sessionId;
  }

  ZooKeeper handle() {
    return handle;
  }

  /** Whether the connection is encrypted. */
  boolean isEncrypted() {
    return handle.getClientConfig().getBoolean(ZKClientConfig.SECURE_CLIENT);
  }

  CompletableFuture<Reply<Created>> create(
      String path, byte[] data, List<ACL> acl, CreateMode mode) {
    Call<Created> call = new Call<>(true);
    AsyncCallback.Create2Callback callback = (rc, asked, ctx, made, stat) ->
        call.answered(rc, made == null || stat == null ? null : new Created(made, stat));
    handle.create(path, data, acl, mode, callback, null);
    return call.future;
  }

  /** What the server says of a node. */
  CompletableFuture<Reply<Stat>> stat(String path) {
    Call<Stat> call = new Call<>(false);
    AsyncCallback.StatCallback callback = (rc, asked, ctx, stat) -> call.answered(rc, stat);
    handle.exists(path, false, callback, null);
    return call.future;
  }

  /** As {@link #stat}, after a follower has caught up with its leader; what a leader says may have gone already. */
  CompletableFuture<Reply<Stat>> statSynced(String path) {
    // in this order on one connection: the node is looked at when this server has caught up
    AsyncCallback.VoidCallback nothing = (rc, asked, ctx) -> {};
    handle.sync(path, nothing, null);
    return stat(path);
  }

  /** Lists a node's children, however many there are: the client breaks the connection over an answer that is too long. */
  CompletableFuture<Reply<Children>> children(String path) {
    Call<Children> call = new Call<>(false);
    AsyncCallback.Children2Callback callback = (rc, asked, ctx, names, stat) ->
        call.answered(rc, names == null || stat == null ? null : new Children(names, stat));
    handle.getChildren(path, false, callback, null);
    return call.future;
  }

  /** Lists a lock's folder: at once if its queue is short, and else when the server has counted what is in it. */
  CompletableFuture<Reply<Children>> queue(String folder) {
    return isShort(folder)
        ? list(folder)
        : stat(folder).thenCompose(counted -> queue(folder, counted));
  }

  /** Whether the folder was listed a moment ago, and few nodes were there. */
  boolean isShort(String folder) {
    Moment then = shortAt.get(folder);
    return then != null
        && session.now().nanos() - then.nanos() < ZooKeeperGuarantees.WAITER_LEASE.toNanos();
  }

  private CompletableFuture<Reply<Children>> list(String folder) {
    return children(folder).thenApply(list -> {
      if (!list.isOk() || list.get().names().size() > mostListed() / GROWTH) {
        shortAt.remove(folder);
      } else {
        if (shortAt.size() >= MOST_SHORT) {
          shortAt.clear();
        }
        shortAt.put(folder, list.sent());
      }
      return list;
    });
  }

  private int mostListed() {
    return longestAnswer() / LISTED_BYTES;
  }

  /**
   * Lists a lock's folder whose nodes were counted a moment ago: not if there are more than the client takes in an answer,
   * see {@link Reply#isTooLong}.
   */
  CompletableFuture<Reply<Children>> queue(String folder, Reply<Stat> counted) {
    if (!counted.isOk()) {
      return CompletableFuture.completedFuture(new Reply<>(counted.code(), null, counted.sent()));
    }
    if (counted.get().getNumChildren() > mostListed()) {
      return CompletableFuture.completedFuture(
          new Reply<>(Code.MARSHALLINGERROR, null, counted.sent()));
    }
    return list(folder);
  }

  /** How many bytes the client takes in an answer. */
  int longestAnswer() {
    return handle
        .getClientConfig()
        .getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
  }

  CompletableFuture<Reply<Data>> data(String path, @Nullable Watcher watcher) {
    Call<Data> call = new Call<>(false);
    AsyncCallback.DataCallback callback = (rc, asked, ctx, bytes, stat) -> call.answered(
        rc, stat == null ? null : new Data(bytes == null ? new byte[0] : bytes, stat));
    handle.getData(path, watcher, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<Stat>> set(String path, byte[] data) {
    Call<Stat> call = new Call<>(true);
    AsyncCallback.StatCallback callback = (rc, asked, ctx, stat) -> call.answered(rc, stat);
    handle.setData(path, data, -1, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<Boolean>> delete(String path, int version) {
    Call<Boolean> call = new Call<>(true);
    AsyncCallback.VoidCallback callback = (rc, asked, ctx) -> call.answered(rc, true);
    handle.delete(path, version, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<List<OpResult>>> multi(Op... all) {
    Call<List<OpResult>> call = new Call<>(true);
    AsyncCallback.MultiCallback callback =
        (rc, asked, ctx, results) -> call.answered(rc, results == null ? List.of() : results);
    handle.multi(List.of(all), callback, null);
    return call.future;
  }

  /** Reads several nodes in one request. Each result says what became of its own: one that is missing spoils no other. */
  CompletableFuture<Reply<List<OpResult>>> read(List<Op> all) {
    Call<List<OpResult>> call = new Call<>(false);
    // where there are results, the code is that of the first node that could not be read
    AsyncCallback.MultiCallback callback = (rc, asked, ctx, results) ->
        call.answered(results == null || results.isEmpty() ? rc : Code.OK.intValue(), results);
    handle.multi(all, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<List<ACL>>> acl(String path) {
    Call<List<ACL>> call = new Call<>(false);
    AsyncCallback.ACLCallback callback = (rc, asked, ctx, acl, stat) -> call.answered(rc, acl);
    handle.getACL(path, new Stat(), callback, null);
    return call.future;
  }

  /** The paths of all ephemeral nodes of this session below a path. */
  CompletableFuture<Reply<List<String>>> ephemerals(String below) {
    Call<List<String>> call = new Call<>(false);
    AsyncCallback.EphemeralsCallback callback =
        (rc, ctx, paths) -> call.answered(rc, paths == null ? List.of() : paths);
    handle.getEphemerals(below, callback, null);
    return call.future;
  }

  /** For a request whose answer nobody needs: those that follow show what it has changed. */
  static void unasked(CompletableFuture<?> answer) {
    answer.isDone();
  }

  /**
   * Asks for something that needs a majority and changes nothing: the deletion of a node that is not there. Reads prove
   * nothing: a server that is cut off from the others goes on answering them until it notices, while those end its
   * clients' sessions.
   */
  CompletableFuture<Reply<Boolean>> agree() {
    return delete(nothing, -1);
  }

  /** As {@link #agree}, but shares a request that another claim has just sent. */
  CompletableFuture<Reply<Boolean>> agreeTogether() {
    return agreement.ask(sent -> agree());
  }

  /** As {@link #queue}, and a majority has heard of this connection since it was sent. */
  CompletableFuture<Reply<Children>> queueAgreed(String folder) {
    return agreed(agree(), queue(folder));
  }

  /** What was read after a request that needs a majority; it counts from then. */
  static <T> CompletableFuture<Reply<T>> agreed(
      CompletableFuture<? extends Reply<?>> before, CompletableFuture<Reply<T>> read) {
    return before.thenCombine(read, (proof, found) -> found.behind(proof));
  }

  /** A sign of life, to which this server answers by itself. */
  void touch() {
    AsyncCallback.StatCallback callback = (rc, asked, ctx, stat) -> session.heard(this);
    handle.exists(nothing, false, callback, null);
  }

  /** Breaks the connection, and not the session, which the client takes to another server. May wait for the driver. */
  void hangUp() throws IOException {
    handle.getTestable().closeSocket();
    // the client's thread, which waits at the socket, looks at it again for the sake of this
    touch();
  }

  /** A request that is about to be sent. */
  private final class Call<T> {
    private final Moment sent = session.now();
    private final CompletableFuture<Reply<T>> future = new CompletableFuture<>();
    private final boolean changes;

    Call(boolean changes) {
      this.changes = changes;
    }

    void answered(int rc, @Nullable T value) {
      Code code = Code.get(rc);
      Reply<T> reply = new Reply<>(code == null ? Code.SYSTEMERROR : code, value, sent);
      if (changes && reply.isAgreed()) {
        session.agreed(sent);
      }
      future.complete(reply);
    }
  }
}
