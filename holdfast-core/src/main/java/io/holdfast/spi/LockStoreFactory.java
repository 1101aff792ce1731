// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Set;

/** Finds stores by the scheme of an address; registered for {@link java.util.ServiceLoader}. */
public interface LockStoreFactory {
  /**
   * Returns the schemes that this factory serves.
   *
   * @return in lower case, without the colon: {@code sqlite}, {@code jdbc:sqlite}
   */
  Set<String> schemes();

  /**
   * Returns where this factory comes from.
   *
   * @return the artifact, for example {@code io.holdfast:holdfast-jdbc}
   */
  String artifact();

  /**
   * Makes a store. No I/O.
   *
   * @param address where it is
   * @return a store, not started
   * @throws io.holdfast.ConfigurationException if the address does not make sense
   */
  LockStore open(StoreAddress address);

  /**
   * Makes a store that creates no files, tables or nodes; if they do not exist, {@link LockStore#connect()} fails. For commands
   * that only read: a misspelt address must not create an empty store. No I/O.
   *
   * @param address where it is
   * @return a store, not started; the same as {@link #open} unless the factory says otherwise
   * @throws io.holdfast.ConfigurationException if the address does not make sense
   */
  default LockStore openExisting(StoreAddress address) {
    return open(address);
  }
}
