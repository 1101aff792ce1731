// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A key as the server tells it.
 *
 * @param key its name
 * @param value its value; empty where the server left it out
 * @param session the session that has it locked; empty if none has
 * @param index when it was changed last: grows with every change in the cluster; 0 if the key is not there
 */
record ConsulEntry(String key, String value, String session, long index) {
  static ConsulEntry read(@Nullable Object json) {
    byte[] value = Base64.getDecoder().decode(Json.text(json, "Value"));
    return new ConsulEntry(
        Json.text(json, "Key"),
        new String(value, StandardCharsets.UTF_8),
        Json.text(json, "Session"),
        Json.number(json, "ModifyIndex"));
  }

  boolean isThere() {
    return index > 0;
  }

  boolean isLocked() {
    return !session.isEmpty();
  }
}
