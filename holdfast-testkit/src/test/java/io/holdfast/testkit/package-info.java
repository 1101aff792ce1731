// SPDX-License-Identifier: Apache-2.0
/** Tests of what users test with. */
@NullMarked
package io.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
