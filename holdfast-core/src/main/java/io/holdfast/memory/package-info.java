// SPDX-License-Identifier: Apache-2.0
/** The store that lives in this process only: for one JVM, and for tests. */
@NullMarked
package io.holdfast.memory;

import org.jspecify.annotations.NullMarked;
