// SPDX-License-Identifier: Apache-2.0
/** A second process that takes locks, so that tests can kill it and stop it. */
@NullMarked
package io.holdfast.testkit.process;

import org.jspecify.annotations.NullMarked;
