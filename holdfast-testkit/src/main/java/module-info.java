// SPDX-License-Identifier: Apache-2.0
/** The contract that every store is held to, a simulator, and help for testing programs that use Holdfast. */
module io.holdfast.testkit {
  requires static org.jspecify;
  requires java.logging;
  requires transitive io.holdfast.core;
  requires transitive java.sql;
  requires transitive org.junit.jupiter.api;
  requires static org.junit.platform.engine;
  requires static org.junit.platform.launcher;

  exports io.holdfast.testkit;
  exports io.holdfast.testkit.consul;
  exports io.holdfast.testkit.contract;
  exports io.holdfast.testkit.etcd;
  exports io.holdfast.testkit.history;
  exports io.holdfast.testkit.log;
  exports io.holdfast.testkit.process;
  exports io.holdfast.testkit.sim;
  exports io.holdfast.testkit.sql;
  exports io.holdfast.testkit.zookeeper;

  opens io.holdfast.testkit.contract to
      org.junit.platform.commons;
}
