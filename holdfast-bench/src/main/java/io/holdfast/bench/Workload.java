// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** What contenders are made to do. A {@code %s} in a name stands for the size of the row. */
enum Workload {
  UNCONTENDED("one thread, a free lock", Unit.PER_SECOND),
  SEPARATE("16 threads, 16 locks", Unit.PER_SECOND),
  SHARED("16 threads, one lock", Unit.PER_SECOND),
  APART("16 threads, one lock, without local hand-over", Unit.PER_SECOND),
  PROCESSES("4 processes of 4 threads, one lock", Unit.PER_SECOND),
  HAND_OVER("from a release in one process to the grant in another", Unit.MILLIS),
  WAITERS(
      "1 thread of 1 process wants one lock",
      "%s threads of 4 processes want one lock",
      Unit.PER_SECOND),
  LOCKS("16 threads share 1 lock", "16 threads share %s locks", Unit.PER_SECOND),
  REENTRANT("entering again, and leaving", Unit.PER_SECOND),
  COMMANDS("commands a cycle, those within scripts counted", Unit.COMMANDS),
  IDLE("what the server is asked while 16 threads wait for 16 locks", Unit.REQUESTS),
  KEPT_CPU("CPU of the client that holds %s locks", Unit.CPU_SECONDS),
  KEPT_SHARE("CPU of the client that holds %s locks", Unit.CORE_PERCENT),
  KEPT_HEAP("heap that each of %s held locks takes", Unit.BYTES);

  private final String one;
  private final String many;
  private final Unit unit;

  Workload(String name, Unit unit) {
    this(name, name, unit);
  }

  Workload(String one, String many, Unit unit) {
    this.one = one;
    this.many = many;
    this.unit = unit;
  }

  /** Says in words what is done, by or with so many where the workload has sizes. */
  String english(int size) {
    return Text.of(size == 1 ? one : many, Text.of("%,d", size));
  }

  Unit unit() {
    return unit;
  }
}
