// SPDX-License-Identifier: Apache-2.0
/** Measures locks, on any store: what threads get through, how long they wait, and whether the lock excludes. */
@NullMarked
package io.holdfast.measure;

import org.jspecify.annotations.NullMarked;
