// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
import java.util.Set;

/**
 * Makes stores on one Redis server from {@code redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]}, and with TLS from
 * {@code rediss://}. User and password are percent-encoded as in any URL. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.prefix}: what the keys of the locks begin with; another prefix is another set of locks. Default
 *       {@code holdfast:}.
 *   <li>{@code holdfast.retention}: how long the record of a lock stays after its latest grant, from {@code 1m}. More
 *       makes tokens survive a clock that is set back further, and keeps more keys. Default {@code 24h}.
 *   <li>{@code holdfast.connect-timeout}: how long a connection may take, {@code 100ms} to {@code 1m}. Less notices a
 *       silent server earlier; more gives a slow one a chance. Default {@code 2s}.
 *   <li>{@code holdfast.client-name}: what {@code CLIENT LIST} shows. Default {@code holdfast}.
 *   <li>{@code holdfast.replicas}: how many replicas must have confirmed a grant or a renewal before it counts. More
 *       makes a failover less likely to forget a hold, and fewer failures of replicas bearable; each grant and renewal
 *       waits for them, on a connection of its own ({@code WAIT}). Default 0.
 *   <li>{@code holdfast.replicas-timeout}: how long they have time, {@code 10ms} to {@code 1m}; at most half of a
 *       request's time. A grant that was not confirmed by then is given back. Default {@code 500ms}.
 *   <li>{@code holdfast.tls-ca}: a PEM file with the certificates to trust, instead of those of the JDK.
 *   <li>{@code holdfast.tls-cert}, {@code holdfast.tls-key}: PEM files with our certificate and its private key
 *       (PKCS #8), for servers that ask for one.
 *   <li>{@code holdfast.tls-verify}: {@code full} (default), {@code ca} (any host name) or {@code none} (no protection
 *       against an impostor).
 * </ul>
 *
 * <p>{@code redis-sentinel://[[USER]:PASSWORD@]HOST[:PORT],HOST[:PORT].../PRIMARY[/DATABASE]} names the sentinels, any of
 * which is asked for the primary of that name; user and password are those of the servers. It takes these parameters, and
 *
 * <ul>
 *   <li>{@code holdfast.tls}: {@code true} for TLS, with the servers and with the sentinels. Default {@code false}.
 *   <li>{@code holdfast.sentinel-password}, {@code holdfast.sentinel-user}: what the sentinels themselves ask for.
 * </ul>
 *
 * <p>{@code redis-cluster://[[USER]:PASSWORD@]HOST[:PORT],HOST[:PORT]...} names some nodes of a cluster, which tell of the
 * others. It takes the same parameters, but for those of sentinels.
 *
 * <p>{@code redlock://[[USER]:PASSWORD@]HOST[:PORT],HOST[:PORT],HOST[:PORT][/DATABASE]} makes stores on a majority of
 * independent servers: an odd number of them, 3 or more. Its parameters are those of a
 * cluster without {@code holdfast.replicas}, since its nodes have none, and:
 *
 * <ul>
 *   <li>{@code holdfast.max-lease}: the longest lease and {@code holdAtLeast}; the same for all clients of the nodes,
 *       which remember it. A node that may have forgotten locks does not vote for so long (and a hundredth more), 20 s
 *       at least. Default {@code 60s}.
 * </ul>
 */
public final class RedisStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public RedisStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("redis", "rediss", "redis-sentinel", "redis-cluster", "redlock");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-redis";
  }

  @Override
  public LockStore open(StoreAddress address) {
    Objects.requireNonNull(address, "address");
    return address.scheme().equals("redlock") ? RedlockStore.at(address) : RedisStore.at(address);
  }
}
