// SPDX-License-Identifier: Apache-2.0
/** The contract on the memory store, and tests of the test kit. */
@NullMarked
package io.holdfast.testkit.contract;

import org.jspecify.annotations.NullMarked;
