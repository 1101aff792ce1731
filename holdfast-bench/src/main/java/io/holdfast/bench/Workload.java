// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** What contenders are made to do. A {@code %s} in a name stands for the size of the row. */
enum Workload {
  UNCONTENDED("one thread, a free lock", "单线程，空闲的锁", Unit.PER_SECOND),
  SEPARATE("16 threads, 16 locks", "16 个线程，16 把锁", Unit.PER_SECOND),
  SHARED("16 threads, one lock", "16 个线程，一把锁", Unit.PER_SECOND),
  APART("16 threads, one lock, without local hand-over", "16 个线程，一把锁，没有本地移交", Unit.PER_SECOND),
  PROCESSES("4 processes of 4 threads, one lock", "4 个进程，各 4 个线程，一把锁", Unit.PER_SECOND),
  HAND_OVER(
      "from a release in one process to the grant in another", "从一个进程释放到另一个进程获得", Unit.MILLIS),
  WAITERS("%s threads of 1 to 4 processes, one lock", "%s 个线程（1 至 4 个进程），一把锁", Unit.PER_SECOND),
  LOCKS("16 threads, locks: %s", "16 个线程，锁的数量：%s", Unit.PER_SECOND),
  REENTRANT("entering again, and leaving", "再次进入与离开", Unit.PER_SECOND),
  COMMANDS(
      "commands a cycle, uncontended, those within scripts counted",
      "每个周期的命令数，脚本内的也计入",
      Unit.COMMANDS),
  IDLE(
      "what the server is asked while 16 threads wait for 16 locks",
      "16 个线程等待 16 把锁时服务器收到的请求",
      Unit.REQUESTS),
  KEPT_CPU("%s locks kept: CPU of the client", "保持 %s 把锁：客户端 CPU", Unit.CPU_SECONDS),
  KEPT_SHARE("%s locks kept: CPU", "保持 %s 把锁：CPU", Unit.CORE_PERCENT),
  KEPT_HEAP("%s locks kept: heap", "保持 %s 把锁：堆", Unit.BYTES);

  private final String english;
  private final String chinese;
  private final Unit unit;

  Workload(String english, String chinese, Unit unit) {
    this.english = english;
    this.chinese = chinese;
    this.unit = unit;
  }

  String english(int size) {
    return Text.of(english, Text.of("%,d", size));
  }

  String chinese(int size) {
    return Text.of(chinese, Text.of("%,d", size));
  }

  Unit unit() {
    return unit;
  }
}
