// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import java.io.IOException;

/**
 * The floor: one transaction that locks a key with a session if it is not there, and one that deletes it if that session has
 * it; no lock. The session is made once.
 */
final class PlainConsul implements Peer {
  private static final String OWNER = RawConsul.value("0123456789abcdef0123456789abcdef-1");

  private final RawConsul consul;
  private final String session;

  PlainConsul(String uri) {
    consul = new RawConsul(uri);
    try {
      String made = consul.put(
          "/v1/session/create",
          "{\"TTL\":\"3600s\",\"NodeChecks\":[],\"ServiceChecks\":[],\"Behavior\":\"delete\"}");
      session = ",\"Session\":\"" + made.replaceAll(".*\"ID\":\\s*\"|\".*", "") + "\"";
    } catch (IOException e) {
      throw new IllegalStateException("no session", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException("no thread interrupts", e);
    }
  }

  @Override
  public Contention.Guard lock(String name) {
    String key = "plain/" + name.replace(' ', '-');
    String free = RawConsul.op("check-not-exists", key, "");
    String lock = RawConsul.op("lock", key, session + OWNER);
    String ours = RawConsul.op("check-session", key, session);
    String delete = RawConsul.op("delete", key, "");
    return inside -> {
      if (!consul.txn(free, lock)) {
        throw new IllegalStateException("another client has " + name);
      }
      inside.run();
      if (!consul.txn(ours, delete)) {
        throw new IllegalStateException(name + " was not ours");
      }
    };
  }

  @Override
  public void close() {
    // the session ends by itself, and the connections with the client
  }
}
