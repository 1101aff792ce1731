// SPDX-License-Identifier: Apache-2.0
/** Tests of the command. */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
