// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.contract.NullArguments;
import org.junit.jupiter.api.Test;

/** Null is refused at the call, not first by the store. */
class NullArgumentsTest {
  @Test
  void null_isRefused() {
    new NullArguments()
        .with(EtcdSettings.class, EtcdSettings.defaults())
        .with(EtcdSettings.Builder.class, EtcdSettings.builder())
        .ofModule(EtcdStore.class)
        .areRefused(6);
  }
}
