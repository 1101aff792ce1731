// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;

/**
 * What the parts of the recipe share.
 *
 * @param paths where the nodes are
 * @param clients who may do what with them
 * @param sessions the sessions of the store
 * @param contact what was found at the first contact
 * @param kept locks that stay taken after their release
 * @param watches the watches on nodes
 * @param runtime clocks and timer
 * @param events who hears of grants and losses
 */
record ZooKeeperContext(
    ZooKeeperPaths paths,
    ZooKeeperClients clients,
    ZooKeeperSessions sessions,
    FirstContact contact,
    KeptLocks kept,
    Watches watches,
    StoreRuntime runtime,
    StoreEvents events) {
  Moment now() {
    return runtime.ticker().now();
  }
}
