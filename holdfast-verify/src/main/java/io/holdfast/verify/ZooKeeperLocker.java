// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An ephemeral node as a lock, by somebody who does not look at his session: see {@link Protocol#ZOOKEEPER_NO_SESSION}. */
final class ZooKeeperLocker implements Locker, Protocol.Cleaning {
  private static final String ROOT = "/holdfast-verify-textbook";
  private static final int PORT = 2181;

  private final List<InetSocketAddress> servers = new ArrayList<>();
  private final Duration lease;
  private @Nullable ZooKeeperWire wire;

  ZooKeeperLocker(String uri, Duration lease) {
    this.lease = lease;
    String rest = StoreAddress.parse(uri).rest().substring(2);
    int slash = rest.indexOf('/');
    String authority = slash < 0 ? rest : rest.substring(0, slash);
    for (String each : authority.substring(authority.lastIndexOf('@') + 1).split(",", -1)) {
      int colon = each.lastIndexOf(':');
      servers.add(
          colon < 0
              ? new InetSocketAddress(each, PORT)
              : new InetSocketAddress(
                  each.substring(0, colon), Integer.parseInt(each.substring(colon + 1))));
    }
  }

  private ZooKeeperWire session() {
    ZooKeeperWire now = wire;
    if (now == null || now.isOver()) {
      now = connect();
      wire = now;
      require(now.create(ROOT, false), ZooKeeperWire.NODE_EXISTS);
    }
    return now;
  }

  private ZooKeeperWire connect() {
    IOException last = new IOException("no server is named");
    for (InetSocketAddress each : servers) {
      try {
        return new ZooKeeperWire(each, Math.toIntExact(lease.toMillis()));
      } catch (IOException e) {
        last = e;
      }
    }
    throw new UncheckedIOException(last);
  }

  private static String path(String lock) {
    return ROOT + "/" + lock.replace('/', '_');
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    ZooKeeperWire session = session();
    String path = path(name);
    int answer = session.create(path, true);
    if (answer == ZooKeeperWire.NO_NODE) {
      // another run has ended, and taken the empty root with it
      require(session.create(ROOT, false), ZooKeeperWire.NODE_EXISTS);
      answer = session.create(path, true);
    }
    if (require(answer, ZooKeeperWire.NODE_EXISTS) != 0) {
      return Optional.empty();
    }
    // the flaw: it was created, and so it is there
    TextbookGrip grip = () -> {
      int unused = session.delete(path);
    };
    return Optional.of(grip);
  }

  private static int require(int answer, int expected) {
    if (answer != 0 && answer != expected) {
      throw new IllegalStateException("ZooKeeper answers " + answer);
    }
    return answer;
  }

  @Override
  public void remove(List<String> locks) {
    ZooKeeperWire session = session();
    locks.forEach(each -> require(session.delete(path(each)), ZooKeeperWire.NO_NODE));
    // others may be at work below it
    int unused = session.delete(ROOT);
  }

  @Override
  public void close() {
    if (wire != null) {
      wire.close();
    }
  }
}
