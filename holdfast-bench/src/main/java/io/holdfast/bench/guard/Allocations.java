// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.bench.RedisServers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** How many bytes a cycle takes, of all threads together, as JMH's GC profiler has it. */
final class Allocations {
  private static final Map<String, String> MEMORY = new LinkedHashMap<>();

  static {
    MEMORY.put("memoryCycle", "memory: a cycle");
    MEMORY.put("reentry", "memory: a reentry");
    MEMORY.put("handOver", "memory: a hand-over within");
  }

  private Allocations() {}

  /** Returns the bytes of one each, in the order of the table; without Redis if that is not there. */
  static Map<String, Double> measure() throws RunnerException {
    // whoever else measures something on this machine may do so
    System.setProperty("jmh.ignoreLock", "true");
    Map<String, Double> bytes = new LinkedHashMap<>();
    for (Map.Entry<String, String> each : MEMORY.entrySet()) {
      bytes.put(each.getValue(), measure(each.getKey(), ""));
    }
    if (Subjects.REDIS.isMeasured()) {
      try (RedisServers server = RedisServers.start(1)) {
        bytes.put("Redis: a cycle", measure("redisCycle", server.uri()));
      }
    }
    return bytes;
  }

  /**
   * The first compiler alone: it removes no allocation, so that the number is what the code asks for, after a second and on a
   * busy machine as well as after a minute on an idle one.
   */
  private static double measure(String benchmark, String redis) throws RunnerException {
    Options options = new OptionsBuilder()
        .include("\\." + Allocating.class.getSimpleName() + "\\." + benchmark + "$")
        .forks(1)
        .warmupIterations(1)
        .warmupTime(TimeValue.milliseconds(500))
        .measurementIterations(5)
        .measurementTime(TimeValue.milliseconds(300))
        .jvmArgs("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        .jvmArgsAppend("-D" + Allocating.REDIS + "=" + redis)
        .addProfiler(GCProfiler.class)
        .verbosity(VerboseMode.SILENT)
        .build();
    RunResult result = new Runner(options).runSingle();
    // the least of the iterations: what happens from time to time only adds
    return Objects.requireNonNull(result.getSecondaryResults().get("gc.alloc.rate.norm"))
        .getStatistics()
        .getMin();
  }
}
