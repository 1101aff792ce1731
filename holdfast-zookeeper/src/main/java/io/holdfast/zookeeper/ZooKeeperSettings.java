// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * How locks are stored, and for how long at most: what an address says with its path and its {@code holdfast.*} parameters.
 *
 * <pre>{@code
 * ZooKeeperStore store = ZooKeeperStore.using(
 *     curator, ZooKeeperSettings.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
 * }</pre>
 *
 * @param root the node below which everything is; another root is another set of locks. Default {@code /holdfast}
 * @param longestLease the longest lease, 1 s to an hour. The first session lasts so long and a tick more without a sign
 *     of life, and the servers must allow that (20 ticks unless they are configured). Default 30 s
 * @param tick by how much a session outlasts a lease, 10 ms to a minute: at least the servers' {@code tickTime}. Less
 *     lets a dead holder's lock go earlier. Default 2 s
 * @param acl what is allowed on the nodes that are made, and to whom. A lock is passed on when its holder's node is deleted, so
 *     that a client that logs in should allow that to nobody else: {@code ZooDefs.Ids.CREATOR_ALL_ACL}. Default: everything
 *     to everybody
 */
public record ZooKeeperSettings(String root, Duration longestLease, Duration tick, List<ACL> acl) {
  static final Duration SHORTEST_LONGEST = Duration.ofSeconds(1);
  static final Duration LONGEST_LONGEST = Duration.ofHours(1);
  static final Duration SHORTEST_TICK = Duration.ofMillis(10);
  static final Duration LONGEST_TICK = Duration.ofMinutes(1);

  private static final ZooKeeperSettings DEFAULTS = new ZooKeeperSettings(
      "/holdfast", Duration.ofSeconds(30), Duration.ofSeconds(2), ZooDefs.Ids.OPEN_ACL_UNSAFE);

  /**
   * Checks the settings, all together.
   *
   * @throws IllegalArgumentException if one does not make sense; the message names every problem
   */
  public ZooKeeperSettings {
    Objects.requireNonNull(root, "root");
    Objects.requireNonNull(longestLease, "longestLease");
    Objects.requireNonNull(tick, "tick");
    acl = List.copyOf(acl);
    List<String> problems = new ArrayList<>();
    String problem = problemOf(root);
    if (!problem.isEmpty()) {
      problems.add(problem);
    }
    if (isOutside(longestLease, SHORTEST_LONGEST, LONGEST_LONGEST)) {
      problems.add(
          "longestLease must be from 1 second to 1 hour, not " + DurationText.exact(longestLease));
    }
    if (isOutside(tick, SHORTEST_TICK, LONGEST_TICK)) {
      problems.add("tick must be from 10 ms to 1 minute, not " + DurationText.exact(tick));
    }
    if (acl.isEmpty()) {
      problems.add("acl must allow something");
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
  }

  /** Says what is wrong with a root; empty if nothing is. */
  static String problemOf(String root) {
    if (root.equals("/")) {
      return "the root must be a node of its own, as /holdfast";
    }
    try {
      PathUtils.validatePath(root);
      return "";
    } catch (IllegalArgumentException e) {
      return "the root must be the path of a node, as /holdfast, not " + root;
    }
  }

  private static boolean isOutside(Duration value, Duration least, Duration most) {
    return value.compareTo(least) < 0 || value.compareTo(most) > 0;
  }

  /**
   * Returns the default settings, which an address without path and parameters has, too.
   *
   * @return the root {@code /holdfast}, leases of 30 s at most, a tick of 2 s, open to everybody
   */
  public static ZooKeeperSettings defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these settings with another root.
   *
   * @param other the node below which everything is
   * @return other settings
   */
  public ZooKeeperSettings withRoot(String other) {
    return new ZooKeeperSettings(other, longestLease, tick, acl);
  }

  /**
   * Returns these settings with another longest lease.
   *
   * @param other the longest lease
   * @return other settings
   */
  public ZooKeeperSettings withLongestLease(Duration other) {
    return new ZooKeeperSettings(root, other, tick, acl);
  }

  /**
   * Returns these settings with another tick.
   *
   * @param other by how much a session outlasts a lease
   * @return other settings
   */
  public ZooKeeperSettings withTick(Duration other) {
    return new ZooKeeperSettings(root, longestLease, other, acl);
  }

  /**
   * Returns these settings with another access control list.
   *
   * @param other what is allowed on the nodes that are made, and to whom
   * @return other settings
   */
  public ZooKeeperSettings withAcl(List<ACL> other) {
    return new ZooKeeperSettings(root, longestLease, tick, other);
  }
}
