// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What a request came to: the server's answer, or the client's word that there will be none.
 *
 * @param code what became of it
 * @param value what was asked for; null unless the code is {@code OK}
 * @param sent the local moment just before the request was sent
 */
record Reply<T>(Code code, @Nullable T value, Moment sent) {
  /**
   * A node that was made.
   *
   * @param path its full path
   * @param stat what the server says of it
   */
  record Created(String path, Stat stat) {}

  /**
   * A node's children.
   *
   * @param names in no order
   * @param stat what the server says of the node
   */
  record Children(List<String> names, Stat stat) {}

  /**
   * A node's data.
   *
   * @param bytes the data
   * @param stat what the server says of the node
   */
  @SuppressWarnings("ArrayRecordComponent") // read once, never compared
  record Data(byte[] bytes, Stat stat) {}

  boolean isOk() {
    return code == Code.OK;
  }

  /** There is no such node. */
  boolean isAbsent() {
    return code == Code.NONODE;
  }

  /** It was refused, and will be again. */
  boolean isForbidden() {
    return code == Code.NOAUTH;
  }

  /** Whether nobody knows what became of it: it may have been applied, or may be applied yet. */
  boolean isLost() {
    return code == Code.CONNECTIONLOSS
        || code == Code.OPERATIONTIMEOUT
        || code == Code.REQUESTTIMEOUT;
  }

  /** Whether a list was not asked for, because the client would break the connection over so long an answer. */
  boolean isTooLong() {
    return code == Code.MARSHALLINGERROR;
  }

  /**
   * Of a request that changes something: whether a majority of the servers has agreed on what became of it. Not of one that
   * was refused for want of a permission: a server may say so by itself ({@code zookeeper.enableEagerACLCheck}).
   */
  boolean isAgreed() {
    return switch (code) {
      case OK, NONODE, NODEEXISTS, NOTEMPTY, BADVERSION -> true;
      default -> false;
    };
  }

  /** The same, of what follows from its value. */
  <V> Reply<V> map(Function<T, V> then) {
    return new Reply<>(code, value == null ? null : then.apply(value), sent);
  }

  /** The same, counted from the request before it that needs a majority; or that one's failure. */
  Reply<T> behind(Reply<?> proof) {
    return proof.isAgreed() ? since(proof.sent) : new Reply<>(proof.code, null, proof.sent);
  }

  /** The same, as if it had been sent earlier. */
  Reply<T> since(Moment earlier) {
    return new Reply<>(code, value, earlier);
  }

  /** Returns what was asked for; only where {@link #isOk()}. */
  T get() {
    return Objects.requireNonNull(value, "value");
  }
}
