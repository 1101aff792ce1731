// SPDX-License-Identifier: Apache-2.0
/** What a test expects Holdfast to log: announced, judged, and not printed. */
@NullMarked
package io.holdfast.testkit.log;

import org.jspecify.annotations.NullMarked;
