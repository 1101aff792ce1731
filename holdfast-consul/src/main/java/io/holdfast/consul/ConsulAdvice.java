// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.ConnectionAdvice;

/** What to do when agents cannot be used: one sentence without a full stop. */
enum ConsulAdvice {
  /** Nothing is known that helps. */
  NONE(""),
  START(ConnectionAdvice.START),
  ANY(ConnectionAdvice.SEVERAL),
  HOST(ConnectionAdvice.HOST),
  SILENT(ConnectionAdvice.SILENT),
  HUNG_UP(ConnectionAdvice.HUNG_UP),
  ANOTHER_KIND(ConnectionAdvice.ANOTHER_KIND),
  PLAIN("switch TLS on in the agent, or write consul://"),
  TLS("write consuls:// in the address: this port of the agent speaks TLS"),
  TRUST(ConnectionAdvice.AUTHORITY),
  NAME(
      "write the host's name as the server's certificate has it, or have the certificate issued for this name"),
  IDENTITY(ConnectionAdvice.CLIENT_CERTIFICATE),
  TOKEN("correct the token in the address, or in the file that holdfast.token-file names"),
  NO_TOKEN(
      "put a token into the address that has write on the keys that begin with holdfast.prefix, and session write"),
  RIGHTS("give the token write on the keys that begin with holdfast.prefix, and session write"),
  SHORTEST("set holdfast.session-ttl-min to the servers' session_ttl_min"),
  LIMITS("raise the agent's limits, or let fewer clients of this machine use the agent"),
  MAJORITY(ConnectionAdvice.MAJORITY);

  private final String sentence;

  ConsulAdvice(String sentence) {
    this.sentence = sentence;
  }

  /** Puts it behind the cause. */
  String after(String words) {
    return this == NONE ? words : words + "; " + sentence;
  }

  /** Takes any of them off again, for a report that has advice of its own. */
  static String without(String line) {
    for (ConsulAdvice each : values()) {
      String end = each.after("");
      if (each != NONE && line.endsWith(end)) {
        return line.substring(0, line.length() - end.length());
      }
    }
    return line;
  }
}
