// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/** What a store may or may not give; see {@link Guarantees#require}. */
public enum Guarantee {
  /** Holds exclude each other between processes of one machine. */
  EXCLUDES_PROCESSES,
  /** Holds exclude each other between machines. */
  EXCLUDES_MACHINES,
  /** A restart of the store does not forget holds. */
  HOLDS_SURVIVE_RESTART,
  /** A failover of the store does not forget holds. */
  HOLDS_SURVIVE_FAILOVER,
  /** Tokens keep growing when the store restarts. */
  TOKENS_SURVIVE_RESTART,
  /** Tokens keep growing when the store fails over. */
  TOKENS_SURVIVE_FAILOVER,
  /** {@link LockOptions#fair()} is possible. */
  FAIR,
  /** A clock that steps does not end leases early. */
  IMMUNE_TO_CLOCK_STEPS
}
