// SPDX-License-Identifier: Apache-2.0
/** The engine behind the API. Not exported, and no store may see it. */
@NullMarked
package io.holdfast.engine;

import org.jspecify.annotations.NullMarked;
