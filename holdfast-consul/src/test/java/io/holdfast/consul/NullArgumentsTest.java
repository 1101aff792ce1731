// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.contract.NullArguments;
import org.junit.jupiter.api.Test;

/** Null is refused at the call, not first by the store. */
class NullArgumentsTest {
  @Test
  void null_isRefused() {
    new NullArguments().ofModule(ConsulStore.class).areRefused(1);
  }
}
