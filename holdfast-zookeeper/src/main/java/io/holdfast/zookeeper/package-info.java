// SPDX-License-Identifier: Apache-2.0
/** Locks kept in ZooKeeper: ephemeral sequential nodes, on the connection of a Curator framework. */
@NullMarked
package io.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
