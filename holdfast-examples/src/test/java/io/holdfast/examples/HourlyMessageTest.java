// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.util.List;
import org.junit.jupiter.api.Tag;

/** The Java form, in four processes that start the job at one time. */
@Tag("stores")
class HourlyMessageTest extends HourlyMessageCases {
  @Override
  List<String> commandLine(int waitMillis) {
    return java(
        Machine.class.getName(),
        folder.toString(),
        Integer.toString(waitMillis),
        Integer.toString(KEPT_MILLIS),
        Integer.toString(LEASE_MILLIS));
  }

  @Override
  void untilAllAsk() throws Exception {
    Started.until("all machines are ready", () -> allHaveSaid("ready"));
    for (Started machine : machines()) {
      machine.tell("the hour strikes");
    }
    Started.until("all machines have asked for the lock", () -> allHaveSaid("asks"));
  }
}
