// SPDX-License-Identifier: Apache-2.0
/**
 * The guard: what is asked of the servers, and how much memory a cycle takes, counted and not timed, against a table
 * that is checked in.
 */
@NullMarked
package io.holdfast.bench.guard;

import org.jspecify.annotations.NullMarked;
