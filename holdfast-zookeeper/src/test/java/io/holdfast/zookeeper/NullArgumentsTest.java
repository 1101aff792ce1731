// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.NullArguments;
import org.junit.jupiter.api.Test;

/** Null is refused at the call, not first by the store. */
class NullArgumentsTest {
  @Test
  void null_isRefused() {
    new NullArguments()
        .with(ZooKeeperSettings.class, ZooKeeperSettings.defaults())
        .ofModule(ZooKeeperStore.class)
        .areRefused(10);
  }
}
