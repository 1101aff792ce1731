// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.zookeeper.Reply.Children;
import io.holdfast.zookeeper.Reply.Created;
import io.holdfast.zookeeper.Reply.Data;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One session, as long as it lasts: a handle of ZooKeeper's own client has one session for life. Requests are sent in the
 * order of the calls, the server works them off in that order, and nothing is repeated. Calls do not block; their stages
 * complete on the handle's event thread, always normally.
 */
final class Link {
  private final ZooKeeperSession session;
  private final ZooKeeper handle;
  private final long sessionId;

  Link(ZooKeeperSession session, ZooKeeper handle) {
    this.session = session;
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

  CompletableFuture<Reply<Created>> create(
      String path, byte[] data, List<ACL> acl, CreateMode mode) {
    Call<Created> call = new Call<>();
    AsyncCallback.Create2Callback callback = (rc, asked, ctx, made, stat) ->
        call.answered(rc, made == null || stat == null ? null : new Created(made, stat));
    handle.create(path, data, acl, mode, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<Children>> children(String path) {
    Call<Children> call = new Call<>();
    AsyncCallback.Children2Callback callback = (rc, asked, ctx, names, stat) ->
        call.answered(rc, names == null || stat == null ? null : new Children(names, stat));
    handle.getChildren(path, false, callback, null);
    return call.future;
  }

  /** As {@link #children}, but of what every server has agreed on by now, whichever this one is. */
  CompletableFuture<Reply<Children>> childrenNow(String path) {
    // in this order on one connection: the list is made when this server has caught up
    AsyncCallback.VoidCallback nothing = (rc, asked, ctx) -> {};
    handle.sync(path, nothing, null);
    return children(path);
  }

  CompletableFuture<Reply<Data>> data(String path, @Nullable Watcher watcher) {
    Call<Data> call = new Call<>();
    AsyncCallback.DataCallback callback = (rc, asked, ctx, bytes, stat) -> call.answered(
        rc, stat == null ? null : new Data(bytes == null ? new byte[0] : bytes, stat));
    handle.getData(path, watcher, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<Stat>> set(String path, byte[] data) {
    Call<Stat> call = new Call<>();
    AsyncCallback.StatCallback callback = (rc, asked, ctx, stat) -> call.answered(rc, stat);
    handle.setData(path, data, -1, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<Boolean>> delete(String path, int version) {
    Call<Boolean> call = new Call<>();
    AsyncCallback.VoidCallback callback = (rc, asked, ctx) -> call.answered(rc, true);
    handle.delete(path, version, callback, null);
    return call.future;
  }

  CompletableFuture<Reply<List<OpResult>>> multi(Op... all) {
    Call<List<OpResult>> call = new Call<>();
    AsyncCallback.MultiCallback callback =
        (rc, asked, ctx, results) -> call.answered(rc, results == null ? List.of() : results);
    handle.multi(List.of(all), callback, null);
    return call.future;
  }

  /** The paths of all ephemeral nodes of this session below a path. */
  CompletableFuture<Reply<List<String>>> ephemerals(String below) {
    Call<List<String>> call = new Call<>();
    AsyncCallback.EphemeralsCallback callback =
        (rc, ctx, paths) -> call.answered(rc, paths == null ? List.of() : paths);
    handle.getEphemerals(below, callback, null);
    return call.future;
  }

  /** For a request whose answer nobody needs: those that follow show what it has changed. */
  static void unasked(CompletableFuture<?> answer) {
    answer.isDone();
  }

  /** A request that is about to be sent. */
  private final class Call<T> {
    private final Moment sent = session.now();
    private final CompletableFuture<Reply<T>> future = new CompletableFuture<>();

    void answered(int rc, @Nullable T value) {
      Code code = Code.get(rc);
      Reply<T> reply = new Reply<>(code == null ? Code.SYSTEMERROR : code, value, sent);
      if (isFromTheServer(reply)) {
        session.acknowledged(sent);
      }
      future.complete(reply);
    }

    private boolean isFromTheServer(Reply<T> reply) {
      return !reply.isLost()
          && reply.code() != Code.SESSIONEXPIRED
          && reply.code() != Code.SESSIONMOVED
          && reply.code() != Code.AUTHFAILED;
    }
  }
}
