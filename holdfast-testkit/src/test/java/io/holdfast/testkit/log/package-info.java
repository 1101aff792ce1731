// SPDX-License-Identifier: Apache-2.0
/** Tests of how logged warnings are judged. */
@NullMarked
package io.holdfast.testkit.log;

import org.jspecify.annotations.NullMarked;
