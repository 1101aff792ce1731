// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import org.apache.zookeeper.KeeperException;

/** Says what a reply that is no success means for the engine. */
final class ZooKeeperErrors {
  private ZooKeeperErrors() {}

  /** Makes the failure of a request that changes something. */
  static StoreException of(String what, Reply<?> reply) {
    return new StoreException(
        what + ": " + reason(reply.code()),
        kind(reply.code()),
        !reply.isLost(),
        KeeperException.create(reply.code()));
  }

  /** Nothing was sent. */
  static StoreException notConnected() {
    return new StoreException(
        "there is no connection to ZooKeeper just now; find out whether most of its servers run, and can be reached",
        Reason.UNREACHABLE,
        true,
        null);
  }

  private static String reason(KeeperException.Code code) {
    return switch (code) {
      case CONNECTIONLOSS -> "the connection to ZooKeeper broke before the answer came";
      case SESSIONEXPIRED -> "the ZooKeeper session has ended";
      case NOAUTH ->
        "NoAuth: the node's ACL does not allow the request; log in as a user that the ACL names, change the ACL, or choose another root";
      case AUTHFAILED ->
        "AuthFailed: the server refused the login; correct user and password in the JAAS configuration (in the section that holdfast.sasl names, else Client)";
      case SESSIONCLOSEDREQUIRESASLAUTH ->
        "SessionClosedRequireAuth: the server wants a login; name a section of the JAAS configuration with holdfast.sasl";
      case NOTREADONLY ->
        "this ZooKeeper server is read-only just now; start a majority of the servers, and check that they reach each other";
      case QUOTAEXCEEDED ->
        "a quota of ZooKeeper is exceeded; raise it with setquota, or remove it with delquota";
      case MARSHALLINGERROR ->
        "the lock's queue is longer than ZooKeeper's client accepts in one answer; let fewer processes, or fewer fair callers,"
            + " wait at the same time, or raise jute.maxbuffer in all clients";
      default -> "ZooKeeper says " + code;
    };
  }

  private static Reason kind(KeeperException.Code code) {
    return switch (code) {
      case NOAUTH, AUTHFAILED, INVALIDACL, SESSIONCLOSEDREQUIRESASLAUTH -> Reason.REFUSED;
      case QUOTAEXCEEDED, MARSHALLINGERROR -> Reason.FULL;
      default -> Reason.UNREACHABLE;
    };
  }
}
