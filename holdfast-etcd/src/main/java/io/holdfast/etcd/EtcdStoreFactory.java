// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
import java.util.Set;

/**
 * Makes stores on an etcd cluster from {@code etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]}, and with TLS from
 * {@code etcds://}. All members should be named: each is asked in turn, and one that does not answer is left out. User and
 * password are percent-encoded as in any URL. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.prefix}: what the keys of the locks begin with; another prefix is another set of locks. Default
 *       {@code holdfast/}.
 *   <li>{@code holdfast.connect-timeout}: how long a connection may take, {@code 100ms} to {@code 1m}. Less notices a
 *       silent member earlier; more gives a slow one a chance. Default {@code 2s}.
 *   <li>{@code holdfast.tls-ca}: a PEM file with the certificates to trust, instead of those of the JDK.
 *   <li>{@code holdfast.tls-cert}, {@code holdfast.tls-key}: PEM files with our certificate and its private key
 *       (PKCS #8), for servers that ask for one.
 *   <li>{@code holdfast.tls-authority}: the name that the members' certificates are for, if it is not that of the host.
 * </ul>
 */
public final class EtcdStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public EtcdStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("etcd", "etcds");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-etcd";
  }

  @Override
  public LockStore open(StoreAddress address) {
    return EtcdStore.at(Objects.requireNonNull(address, "address"));
  }
}
