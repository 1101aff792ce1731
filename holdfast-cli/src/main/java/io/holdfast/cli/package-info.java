// SPDX-License-Identifier: Apache-2.0
/** The command <code>holdfast</code>. */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
