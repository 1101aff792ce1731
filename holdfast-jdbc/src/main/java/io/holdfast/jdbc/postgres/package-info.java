// SPDX-License-Identifier: Apache-2.0
/** What PostgreSQL's driver makes for us by the name of its class. Not for others. */
@NullMarked
package io.holdfast.jdbc.postgres;

import org.jspecify.annotations.NullMarked;
