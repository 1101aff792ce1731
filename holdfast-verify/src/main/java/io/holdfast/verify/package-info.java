// SPDX-License-Identifier: Apache-2.0
/**
 * Proves locks on a store that is used for real: processes take locks, are paused and killed, and what happened is judged.
 */
@NullMarked
package io.holdfast.verify;

import org.jspecify.annotations.NullMarked;
