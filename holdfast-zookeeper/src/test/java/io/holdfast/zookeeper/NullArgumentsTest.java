// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.testkit.contract.NullArguments;
import org.junit.jupiter.api.Test;

/** No null means "the default", nor is it noticed only when the store is asked. */
class NullArgumentsTest {
  @Test
  void null_isRefused() {
    new NullArguments()
        .with(ZooKeeperSettings.class, ZooKeeperSettings.defaults())
        .of(ZooKeeperSettings.class, ZooKeeperSettings.defaults())
        .of(ZooKeeperStore.class)
        .areRefused(8);
  }
}
