// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What doctor says of a store. */
record Diagnosis(List<Finding> findings) {
  static Diagnosis of(String uri) {
    return of(RedisStore.at(StoreAddress.parse(uri)));
  }

  /** Starts a store, asks it, and closes it. */
  static Diagnosis of(LockStore unused) {
    RecordingStart start = new RecordingStart();
    try (LockStore store = unused) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      return new Diagnosis(Await.value(store.diagnose()));
    }
  }

  /** Returns the finding about something. */
  Finding about(String subject) {
    return findings.stream()
        .filter(each -> each.subject().equals(subject))
        .findFirst()
        .orElseThrow();
  }

  /** Returns how bad each finding is, by its subject. */
  Map<String, Level> levels() {
    Map<String, Level> levels = new HashMap<>();
    findings.forEach(each -> levels.put(each.subject(), each.level()));
    return levels;
  }

  /** Returns the rules of the user that is recommended, with a password. */
  List<String> rules(String password) {
    String line = about("permissions").advice();
    return List.of(line.substring(line.indexOf("SETUSER NAME ") + 13)
        .replace(">PASSWORD", ">" + password)
        .split(" ", -1));
  }
}
