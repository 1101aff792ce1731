// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A transaction as it is asked for: all of it is done, in this order, or nothing. */
final class ConsulTxn {
  /** The server takes 64 operations in a transaction, later ones 128. */
  static final int MOST = 64;

  private record Op(
      String verb,
      String key,
      long index,
      String session,
      @Nullable String value) {}

  private final List<Op> ops = new ArrayList<>();

  /** What became of a transaction. */
  record Answer(boolean isDone, List<ConsulEntry> entries, List<Refusal> refusals) {
    /**
     * Returns a key as it was read last; one that is not there has the index 0. Empty if nothing is said of it: what the
     * token may not read is left out.
     */
    Optional<ConsulEntry> entry(String key) {
      return entries.stream().filter(each -> each.key().equals(key)).reduce((old, last) -> last);
    }

    /** Says whether a key is there that says that somebody waits; it is thought so if nothing is said of it. */
    boolean isThere(String key) {
      return entry(key).map(ConsulEntry::isThere).orElse(true);
    }

    boolean isRefusedFor(String words) {
      return refusals.stream().anyMatch(each -> each.what.contains(words));
    }

    /** Says whether the session of a lock has ended. */
    boolean isSessionGone() {
      return isRefusedFor("invalid session");
    }

    /** Says whether the lock's last holder's session ended a moment ago. */
    boolean isDelayed() {
      return isRefusedFor("lock delay");
    }
  }

  /** Why an operation, by its place, was not done. */
  record Refusal(long op, String what) {}

  /** Goes on only if nothing is there. */
  ConsulTxn isMissing(String key) {
    return add("check-not-exists", key, 0, "", null);
  }

  /** Goes on only if the key was last changed then. */
  ConsulTxn isSame(String key, long index) {
    return add("check-index", key, index, "", null);
  }

  /** Goes on only if the key was last changed then; 0 is for one that is not there. */
  ConsulTxn isAt(String key, long index) {
    return index == 0 ? isMissing(key) : isSame(key, index);
  }

  ConsulTxn lock(String key, String session, String value) {
    return add("lock", key, 0, session, value);
  }

  ConsulTxn unlock(String key, String session) {
    return add("unlock", key, 0, session, null);
  }

  /** Reads a key, whether it is there or not. */
  ConsulTxn get(String key) {
    return add("get-or-empty", key, 0, "", null);
  }

  ConsulTxn delete(String key) {
    return add("delete", key, 0, "", null);
  }

  private ConsulTxn add(
      String verb, String key, long index, String session, @Nullable String value) {
    ops.add(new Op(verb, key, index, session, value));
    return this;
  }

  int size() {
    return ops.size();
  }

  String write() {
    return write("", "");
  }

  /** The address's parameters choose no namespace for what is in a transaction. */
  String write(String namespace, String partition) {
    return Json.write(json -> {
      json.writeStartArray();
      for (Op each : ops) {
        json.writeStartObject();
        json.writeName("KV");
        json.writeStartObject();
        json.writeStringProperty("Verb", each.verb);
        json.writeStringProperty("Key", each.key);
        if (!namespace.isEmpty()) {
          json.writeStringProperty("Namespace", namespace);
        }
        if (!partition.isEmpty()) {
          json.writeStringProperty("Partition", partition);
        }
        if (each.index != 0) {
          json.writeNumberProperty("Index", each.index);
        }
        if (!each.session.isEmpty()) {
          json.writeStringProperty("Session", each.session);
        }
        if (each.value != null) {
          byte[] bytes = each.value.getBytes(StandardCharsets.UTF_8);
          json.writeStringProperty("Value", Base64.getEncoder().encodeToString(bytes));
        }
        json.writeEndObject();
        json.writeEndObject();
      }
      json.writeEndArray();
    });
  }

  static Answer read(boolean isDone, String text) {
    Object json = Json.read(text);
    if (!(json instanceof Map)) {
      throw new Json.Foreign("this is no answer of a transaction", null);
    }
    List<ConsulEntry> entries = new ArrayList<>();
    for (Object each : Json.list(Json.get(json, "Results"))) {
      entries.add(ConsulEntry.read(Json.get(each, "KV")));
    }
    List<Refusal> refusals = new ArrayList<>();
    for (Object each : Json.list(Json.get(json, "Errors"))) {
      refusals.add(new Refusal(Json.number(each, "OpIndex"), Json.text(each, "What")));
    }
    return new Answer(isDone, entries, refusals);
  }
}
