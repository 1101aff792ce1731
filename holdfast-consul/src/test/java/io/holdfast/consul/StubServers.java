// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Keys and sessions of a cluster that stub agents have in common: as much of Consul as the store needs when all goes
 * well.
 */
final class StubServers {
  private record Entry(String value, String session, long index) {}

  private final Map<String, Entry> keys = new HashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private long index = 10;
  private int sessions;

  StubAgent.Reply answer(StubAgent.Asked asked) {
    lock.lock();
    try {
      if (asked.path().startsWith("/v1/session/create")) {
        return new StubAgent.Reply(200, "{\"ID\":\"s" + ++sessions + "\"}", 0);
      }
      if (asked.path().startsWith("/v1/txn")) {
        return txn(Json.list(Json.read(asked.body())));
      }
      if (asked.path().startsWith("/v1/kv/")) {
        String key = asked.path().substring(7, asked.path().indexOf('?')).replace("%3A", ":");
        if (asked.path().contains("?recurse")) {
          String found = keys.keySet().stream()
              .filter(each -> each.startsWith(key))
              .map(this::text)
              .collect(Collectors.joining(","));
          return new StubAgent.Reply(200, "[" + found + "]", index);
        }
        return keys.containsKey(key)
            ? new StubAgent.Reply(200, "[" + text(key) + "]", index)
            : new StubAgent.Reply(404, "", index);
      }
      return new StubAgent.Reply(200, "[]", 0);
    } finally {
      lock.unlock();
    }
  }

  private StubAgent.Reply txn(List<?> operations) {
    StringBuilder results = new StringBuilder();
    index++;
    for (Object each : operations) {
      Object op = Json.get(each, "KV");
      String key = Json.text(op, "Key");
      Entry old = keys.getOrDefault(key, new Entry("", "", 0));
      String verb = Json.text(op, "Verb");
      boolean isRefused = (verb.equals("check-not-exists") && old.index > 0)
          || (verb.equals("check-index") && old.index != Json.number(op, "Index"));
      if (isRefused) {
        return new StubAgent.Reply(
            409, "{\"Errors\":[{\"OpIndex\":0,\"What\":\"failed on key " + key + "\"}]}", 0);
      }
      switch (verb) {
        case "lock" ->
          keys.put(key, new Entry(Json.text(op, "Value"), Json.text(op, "Session"), index));
        case "unlock" -> keys.put(key, new Entry(old.value, "", index));
        case "delete" -> keys.remove(key);
        default -> {}
      }
      if (!verb.equals("delete") && !verb.equals("check-not-exists")) {
        results
            .append(results.isEmpty() ? "" : ",")
            .append("{\"KV\":")
            .append(text(key))
            .append('}');
      }
    }
    return new StubAgent.Reply(200, "{\"Results\":[" + results + "]}", 0);
  }

  private String text(String key) {
    Entry entry = keys.getOrDefault(key, new Entry("", "", 0));
    return "{\"Key\":\"" + key + "\",\"Value\":\"" + entry.value + "\",\"Session\":\""
        + entry.session + "\",\"ModifyIndex\":" + entry.index + "}";
  }
}
