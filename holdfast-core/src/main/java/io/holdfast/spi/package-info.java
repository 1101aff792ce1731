// SPDX-License-Identifier: Apache-2.0
/**
 * What a store implements, and what the engine tells it. Programs that only use locks need nothing from here.
 *
 * @serial exclude
 */
@NullMarked
package io.holdfast.spi;

import org.jspecify.annotations.NullMarked;
