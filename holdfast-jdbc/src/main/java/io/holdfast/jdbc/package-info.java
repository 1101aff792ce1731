// SPDX-License-Identifier: Apache-2.0
/** Locks kept in a database that JDBC reaches. */
@NullMarked
package io.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
