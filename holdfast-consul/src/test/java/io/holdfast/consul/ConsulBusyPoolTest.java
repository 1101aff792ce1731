// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The JVM's common pool is others', and may be busy with waiting for a lock, even this one. */
@Tag("stores")
class ConsulBusyPoolTest {
  @Test
  void answers_needNoThreadOfTheCommonPool() throws IOException {
    Process program = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-Xmx64m",
            "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
            "-cp",
            System.getProperty("java.class.path"),
            BusyPool.class.getName(),
            ConsulUnderTest.server().uri() + "?holdfast.prefix=" + ConsulUnderTest.nextPrefix()
                + ConsulUnderTest.BRIEF)
        .inheritIO()
        .start();
    try {
      assertThat(Await.value(program.onExit()).exitValue()).isEqualTo(42);
    } finally {
      program.destroyForcibly();
    }
  }
}
