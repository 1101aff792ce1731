// SPDX-License-Identifier: Apache-2.0
/** A verifier: processes that use locks on a real store, faults, and a judge of what happened. */
module io.holdfast.verify {
  requires static org.jspecify;
  requires static lettuce.core;
  requires transitive io.holdfast.core;
  requires java.sql;

  exports io.holdfast.verify;
}
