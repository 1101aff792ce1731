// SPDX-License-Identifier: Apache-2.0
/** Locks kept in etcd: {@link io.holdfast.etcd.EtcdStore}. */
@NullMarked
package io.holdfast.etcd;

import org.jspecify.annotations.NullMarked;
