// SPDX-License-Identifier: Apache-2.0
/**
 * The simulator: the production engine of several processes, on one thread, under virtual clocks, against a simulated
 * store behind a network that loses, delays and repeats. Every run is replayed from its seed, and judged by {@link
 * io.holdfast.testkit.history.Invariant}.
 */
@NullMarked
package io.holdfast.testkit.sim;

import org.jspecify.annotations.NullMarked;
