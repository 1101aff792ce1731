// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

/** What the build asks of the servers of its tests: whether all have to be there, and how old they are. */
public final class ServerOptions {
  private ServerOptions() {}

  /**
   * Says whether a store that cannot be tested on this machine is a failure.
   *
   * @return whether {@code -Dholdfast.stores=required} was given
   * @throws IllegalArgumentException if the property says anything else
   */
  public static boolean areRequired() {
    return isSet("holdfast.stores", "required");
  }

  /**
   * Says whether the servers are the oldest supported ones.
   *
   * @return whether {@code -Dholdfast.servers=oldest} was given
   * @throws IllegalArgumentException if the property says anything else
   */
  public static boolean areOldest() {
    return isSet("holdfast.servers", "oldest");
  }

  /** Says whether a property has the one value that it can have. */
  private static boolean isSet(String property, String value) {
    String set = System.getProperty(property, "");
    if (!set.isEmpty() && !set.equals(value)) {
      throw new IllegalArgumentException("-D" + property + "=" + set + ": it can be " + value);
    }
    return !set.isEmpty();
  }
}
