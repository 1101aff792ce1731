// SPDX-License-Identifier: Apache-2.0
/**
 * What happened between processes and a store, in the store's order, and the judges of it: one pure function of a
 * history for each invariant. They know nothing of how a history came about, so that histories of simulated and of real
 * stores are judged alike.
 */
@NullMarked
package io.holdfast.testkit.history;

import org.jspecify.annotations.NullMarked;
