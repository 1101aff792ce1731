// SPDX-License-Identifier: Apache-2.0
/** Benchmarks. */
@NullMarked
package io.holdfast.bench;

import org.jspecify.annotations.NullMarked;
