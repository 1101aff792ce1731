// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** Two servers, one the replica of the other, and a sentinel that watches over them. */
final class RedisPair implements AutoCloseable {
  private final RedisProcess primary = new RedisProcess("--repl-diskless-sync-delay", "0");
  private final RedisProcess replica;
  private final RedisProcess sentinel;

  /** Starts them, the sentinel last, so that it finds the replica at its first look. */
  RedisPair() {
    replica = new RedisProcess(
        "--repl-diskless-sync-delay",
        "0",
        "--replicaof",
        "127.0.0.1",
        Integer.toString(primary.port()));
    Await.until(
        "the replica follows",
        () -> replica.ask("INFO replication").contains("master_link_status:up"),
        replica::log);
    sentinel = RedisProcess.sentinelOf(primary, "primary");
  }

  /** Returns the address of the store; its parameters may follow. */
  String uri() {
    return "redis-sentinel://" + sentinel.address() + "/primary";
  }

  @Override
  public void close() {
    sentinel.close();
    replica.close();
    primary.close();
  }
}
