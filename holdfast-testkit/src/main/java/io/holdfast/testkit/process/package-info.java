// SPDX-License-Identifier: Apache-2.0
/** Processes that tests kill and stop: a second one that takes locks, and servers. */
@NullMarked
package io.holdfast.testkit.process;

import org.jspecify.annotations.NullMarked;
