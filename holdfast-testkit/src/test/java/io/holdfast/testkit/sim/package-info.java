// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.holdfast.testkit.sim;

import org.jspecify.annotations.NullMarked;
