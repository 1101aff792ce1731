// SPDX-License-Identifier: Apache-2.0
/** Locks kept in Consul: {@link io.holdfast.consul.ConsulStore}. */
@NullMarked
package io.holdfast.consul;

import org.jspecify.annotations.NullMarked;
