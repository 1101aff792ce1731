// SPDX-License-Identifier: Apache-2.0
/** Real Consul servers and clusters for tests. */
@NullMarked
package io.holdfast.testkit.consul;

import org.jspecify.annotations.NullMarked;
