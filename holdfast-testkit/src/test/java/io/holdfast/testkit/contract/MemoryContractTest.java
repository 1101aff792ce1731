// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

/** The contract on the memory store. */
class MemoryContractTest extends StoreContract {
  MemoryContractTest() {
    super("memory", MemoryUnderTest::new);
  }
}
