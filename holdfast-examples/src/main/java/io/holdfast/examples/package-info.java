// SPDX-License-Identifier: Apache-2.0
/** Programs that use Holdfast. */
@NullMarked
package io.holdfast.examples;

import org.jspecify.annotations.NullMarked;
