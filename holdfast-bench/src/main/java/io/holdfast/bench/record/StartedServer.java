// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.testkit.process.Tunnel;
import io.holdfast.verify.OwnServer;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A server of the test kit, behind a tunnel through which all workers go. */
final class StartedServer implements OwnServer, AutoCloseable {
  private final String version;
  private final String uri;
  private final Tunnel tunnel;
  private final Runnable restart;
  private final @Nullable Consumer<Duration> clock;
  private final Supplier<Map<String, Long>> counts;
  private final Runnable end;

  /**
   * Takes a server that answers.
   *
   * @param version its name and version
   * @param uri its store's address
   * @param port the port in that address
   * @param restart kills it and starts it again
   * @param clock sets its clock; null where that cannot be done
   * @param counts counts what it keeps for its clients
   * @param end ends it
   */
  StartedServer(
      String version,
      String uri,
      int port,
      Runnable restart,
      @Nullable Consumer<Duration> clock,
      Supplier<Map<String, Long>> counts,
      Runnable end) {
    this.version = version;
    this.tunnel = new Tunnel(port);
    this.uri = uri.replace(":" + port, ":" + tunnel.port());
    this.restart = restart;
    this.clock = clock;
    this.counts = counts;
    this.end = end;
  }

  String version() {
    return version;
  }

  String uri() {
    return uri;
  }

  /** What it keeps for its clients: rows, keys, nodes, sessions, watches, connections, as it has them. */
  Map<String, Long> counts() {
    return counts.get();
  }

  @Override
  public Set<Fault> faults() {
    Set<Fault> faults = EnumSet.of(Fault.RESTART, Fault.PARTITION);
    if (clock != null) {
      faults.add(Fault.CLOCK);
    }
    return faults;
  }

  @Override
  public void restart() throws IOException {
    try {
      restart.run();
    } catch (AssertionError e) {
      throw new IOException("the server does not come back", e);
    }
  }

  @Override
  public void cut() {
    tunnel.stall();
  }

  @Override
  public void heal() {
    tunnel.drop();
    tunnel.heal();
  }

  @Override
  public void setClock(Duration ahead) {
    if (clock == null) {
      throw new IllegalStateException("its clock cannot be set");
    }
    clock.accept(ahead);
  }

  @Override
  public void close() {
    tunnel.close();
    end.run();
  }
}
