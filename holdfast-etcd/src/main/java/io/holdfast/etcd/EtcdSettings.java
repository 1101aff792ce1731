// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import java.util.Objects;

/**
 * How locks are stored through the application's own client: what {@code holdfast.*} parameters say in an address.
 *
 * <pre>{@code
 * EtcdSettings settings = EtcdSettings.builder().prefix("jobs/").build();
 * EtcdStore store = EtcdStore.using(client, settings);
 * }</pre>
 *
 * @param prefix what all keys begin with; another prefix is another set of locks. The same for all clients that share
 *     locks. Without control characters. Default {@code holdfast/}
 */
public record EtcdSettings(String prefix) {
  private static final EtcdSettings DEFAULTS = new EtcdSettings("holdfast/");

  /**
   * Checks the settings.
   *
   * @throws IllegalArgumentException if the prefix has control characters
   */
  public EtcdSettings {
    Objects.requireNonNull(prefix, "prefix");
    if (prefix.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("prefix must not contain control characters");
    }
  }

  /**
   * Returns the default settings, which an address without parameters has, too.
   *
   * @return the prefix {@code holdfast/}
   */
  public static EtcdSettings defaults() {
    return DEFAULTS;
  }

  /**
   * Starts from the defaults.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder(DEFAULTS);
  }

  /**
   * Starts from these settings.
   *
   * @return a new builder
   */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Makes {@link EtcdSettings}. Not thread-safe. */
  public static final class Builder {
    private String prefix;

    private Builder(EtcdSettings from) {
      prefix = from.prefix;
    }

    /**
     * Sets what all keys begin with. Default: {@code holdfast/}.
     *
     * @param begin without control characters; the same for all clients that share locks
     * @return this
     */
    public Builder prefix(String begin) {
      this.prefix = Objects.requireNonNull(begin, "prefix");
      return this;
    }

    /**
     * Makes the settings.
     *
     * @return immutable settings
     * @throws IllegalArgumentException if one is out of range
     */
    public EtcdSettings build() {
      return new EtcdSettings(prefix);
    }
  }
}
