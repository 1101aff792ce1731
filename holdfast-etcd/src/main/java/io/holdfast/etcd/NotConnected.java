// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import java.util.List;

/** No member is connected: the request was not sent. */
final class NotConnected extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient ConnectionTrouble trouble;

  /** Says so with what the last attempt to connect to each member met, of which there is one at least. */
  NotConnected(List<ConnectionTrouble.Met> met) {
    this(ConnectionTrouble.of(met), met.get(0).failure());
  }

  private NotConnected(ConnectionTrouble trouble, Throwable first) {
    super(trouble.words(), first);
    this.trouble = trouble;
  }

  ConnectionTrouble trouble() {
    return trouble;
  }
}
