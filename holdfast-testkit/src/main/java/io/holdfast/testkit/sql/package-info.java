// SPDX-License-Identifier: Apache-2.0
/** Database servers that tests start, kill and stop, and what stands around them. */
@NullMarked
package io.holdfast.testkit.sql;

import org.jspecify.annotations.NullMarked;
