// SPDX-License-Identifier: Apache-2.0
/** Real etcd servers and clusters for tests. */
@NullMarked
package io.holdfast.testkit.etcd;

import org.jspecify.annotations.NullMarked;
