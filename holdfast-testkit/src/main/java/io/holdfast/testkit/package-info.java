// SPDX-License-Identifier: Apache-2.0
/** Help for testing stores, and programs that use Holdfast. */
@NullMarked
package io.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
