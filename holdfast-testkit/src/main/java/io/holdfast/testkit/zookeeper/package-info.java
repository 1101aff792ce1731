// SPDX-License-Identifier: Apache-2.0
/** Real ZooKeeper servers for tests, as child processes. */
@NullMarked
package io.holdfast.testkit.zookeeper;

import org.jspecify.annotations.NullMarked;
