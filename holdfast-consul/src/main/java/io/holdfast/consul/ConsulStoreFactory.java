// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
import java.util.Set;

/**
 * Makes stores on a Consul cluster from {@code consul://[:TOKEN@]HOST[:PORT][,HOST[:PORT]...]}, and with TLS from {@code
 * consuls://}. The hosts are agents or servers of one datacenter; one that does not answer is left for the next. The token
 * is percent-encoded as in any URL. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.prefix}: what the keys of the locks begin with; another prefix is another set of locks. Default
 *       {@code holdfast/}.
 *   <li>{@code holdfast.lock-delay}: for how long a lock is not given to anybody after the session of its holder has ended,
 *       {@code 0s} to {@code 60s}. More gives a holder whose session was ended early time to notice; less frees a dead
 *       holder's lock sooner. Default {@code 15s}, which is Consul's.
 *   <li>{@code holdfast.session-ttl-min}: the shortest session that the servers allow ({@code session_ttl_min}), and so the
 *       shortest lease; {@code 1s} to {@code 1m}. Default {@code 10s}, which is Consul's.
 *   <li>{@code holdfast.token-file}: a file with the token, instead of the address; read again when the token is refused.
 *   <li>{@code holdfast.datacenter}, {@code holdfast.namespace}, {@code holdfast.partition}: passed through to Consul; the
 *       last two are of its Enterprise edition.
 *   <li>{@code holdfast.connect-timeout}: how long a connection may take, {@code 100ms} to {@code 1m}. Less leaves a silent
 *       agent earlier; more gives a slow one a chance. Default {@code 2s}.
 *   <li>{@code holdfast.tls-ca}: a PEM file with the certificates to trust, instead of those of the JDK.
 *   <li>{@code holdfast.tls-cert}, {@code holdfast.tls-key}: PEM files with our certificate and its private key (PKCS #8),
 *       for agents that ask for one.
 * </ul>
 */
public final class ConsulStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public ConsulStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("consul", "consuls");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-consul";
  }

  @Override
  public LockStore open(StoreAddress address) {
    return ConsulStore.at(Objects.requireNonNull(address, "address"));
  }
}
