// SPDX-License-Identifier: Apache-2.0
/** Tests of how the modules are built. */
@NullMarked
package io.holdfast.architecture;

import org.jspecify.annotations.NullMarked;
