// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
import java.util.Set;

/**
 * Makes stores on ZooKeeper from {@code zookeeper://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT].../ROOT}: the servers of one
 * ensemble, and the node below which everything is, {@code /holdfast} if there is none. User and password,
 * percent-encoded as in any URL, are those of ZooKeeper's digest scheme. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.longest-lease}: the longest lease, {@code 1s} to {@code 1h}. More needs servers that allow such
 *       long sessions ({@code maxSessionTimeout}, 20 ticks unless configured). Default {@code 30s}.
 *   <li>{@code holdfast.tick}: by how much a session outlasts a lease, {@code 10ms} to {@code 1m}; at least the servers'
 *       {@code tickTime}. Less lets a dead holder's lock go earlier. Default {@code 2s}.
 *   <li>{@code holdfast.connect-timeout}: how long a connection may take, {@code 100ms} to {@code 1m}. Default {@code
 *       5s}.
 *   <li>{@code holdfast.tls}: {@code true} for TLS; the port is 2281 then unless it is given. Default {@code false}.
 *   <li>{@code holdfast.tls-ca}: a PEM file with the certificates to trust, instead of those of the JDK.
 *   <li>{@code holdfast.tls-cert}, {@code holdfast.tls-key}: PEM files with our certificate and its private key
 *       (unencrypted, PKCS #8), which may be one file. ZooKeeper's client reads them from one: of two, one is made in the
 *       folder for temporary files, for this user only, until the store is closed.
 *   <li>{@code holdfast.sasl}: the section of the JAAS configuration ({@code java.security.auth.login.config}) to log
 *       in with. Without it ZooKeeper's client logs in if there is a section {@code Client}. From ZooKeeper 3.9.4 on, a
 *       login with DIGEST-MD5 is refused while {@code zookeeper.fips-mode} is on, which is the default: {@code
 *       -Dzookeeper.fips-mode=false}, in this JVM and the servers', turns it off.
 *   <li>{@code holdfast.acl}: who may use the nodes that are made: {@code open} (anybody) or {@code creator} (who has
 *       logged in as we have). Default {@code creator} with a user, a certificate or {@code holdfast.sasl}, else {@code
 *       open}.
 * </ul>
 *
 * <p>What ZooKeeper's client reads from system properties ({@code zookeeper.sasl.*}, {@code zookeeper.ssl.*}, {@code
 * jute.maxbuffer} and others), it reads here, too; a parameter comes first.
 */
public final class ZooKeeperStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public ZooKeeperStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("zookeeper");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-zookeeper";
  }

  @Override
  public LockStore open(StoreAddress address) {
    return ZooKeeperStore.at(Objects.requireNonNull(address, "address"));
  }

  @Override
  public LockStore openExisting(StoreAddress address) {
    return ZooKeeperStore.atExisting(Objects.requireNonNull(address, "address"));
  }
}
