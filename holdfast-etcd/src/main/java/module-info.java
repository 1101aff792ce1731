// SPDX-License-Identifier: Apache-2.0
/** Locks kept in etcd. */
module io.holdfast.etcd {
  requires static org.jspecify;
  requires transitive io.holdfast.core;
  requires transitive jetcd.core;
  requires jetcd.common;
  requires io.grpc;
  requires io.grpc.netty;
  requires io.netty.handler;

  exports io.holdfast.etcd;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.etcd.EtcdStoreFactory;
}
