// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.time.Duration;

/**
 * How locks are stored.
 *
 * @param prefix what all keys begin with
 * @param lockDelay for how long a lock is given to nobody after its holder's session has ended
 * @param shortestSession the shortest session that the servers allow
 */
record ConsulSettings(String prefix, Duration lockDelay, Duration shortestSession) {}
