// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class StderrLoggersTest {
  /** What watches the command asks the hold how long it lasts; that may be what finds it lost, and logs it. */
  @Test
  void log_stderrTakesNothing_doesNotWaitWhileACommandRuns() {
    StuckStream stuck = new StuckStream();
    Stderr stderr = Stderr.ours();
    PrintStream before = System.err;
    System.setErr(new PrintStream(stuck, true, StandardCharsets.UTF_8));
    Logging.verbosity(1);
    try {
      stderr.hurry();
      System.Logger logger = new StderrLoggers().getLogger("a.logger", Main.class.getModule());
      FutureTask<Boolean> task = new FutureTask<>(
          () -> {
            logger.log(Level.WARNING, "token={0}: lost", "7");
            logger.log(Level.DEBUG, "not shown");
            logger.log(
                Level.INFO, "renewal failed\u009b2J", new IllegalStateException("why\u001b[2J"));
          },
          true);
      new Thread(task, "logs").start();
      assertThat(task).succeedsWithin(Await.PATIENCE);
      stuck.untilReached();
      assertThat(stuck.taken()).isEmpty();
    } finally {
      stuck.flow();
      stderr.settle(Await.PATIENCE);
      System.setErr(before);
      Logging.verbosity(0);
    }
    assertThat(stuck.taken())
        .startsWith("holdfast: WARNING: token=7: lost\nholdfast: INFO: renewal failed 2J\n"
            + "java.lang.IllegalStateException: why [2J\n\tat ")
        .doesNotContain("not shown")
        .endsWith(")\n");
    stuck.untilWriterHasEnded();
  }
}
