// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** What a contender is there for. */
enum Role {
  /** Holdfast, with its default options. */
  OURS,

  /** Our own requests without our engine: what the rest of a cycle is made of. */
  BARE,

  /** Somebody else's lock. */
  PEER,

  /** What the server can do at most, through the same client: no lock that anybody could use. */
  FLOOR;

  /** Returns the role of a contender, which its name tells. */
  static Role of(String who) {
    if (who.equals(Peers.US)) {
      return OURS;
    }
    if (who.startsWith(Peers.FLOOR)) {
      return FLOOR;
    }
    return who.startsWith("our ") ? BARE : PEER;
  }
}
