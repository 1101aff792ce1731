// SPDX-License-Identifier: Apache-2.0
/**
 * What a program types: connect to a store, name a lock, acquire it, check the token.
 *
 * @serial exclude
 */
@NullMarked
package io.holdfast;

import org.jspecify.annotations.NullMarked;
