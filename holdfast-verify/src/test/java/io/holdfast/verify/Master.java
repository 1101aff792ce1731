// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** A program with workers, for {@link CrewTest}: it stops one of them, says so, and does nothing more. */
final class Master {
  static final String READY = "1 stopped";

  private Master() {}

  /** Starts a Java program with the class path of this one. */
  static Process start() throws IOException {
    List<String> command = new ArrayList<>(java());
    command.add(Master.class.getName());
    return new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx64m",
        "-cp",
        System.getProperty("java.class.path"));
  }

  /** Runs until it is killed, or nobody listens to it any more. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Journal journal = new Journal();
    SplittableRandom random = new SplittableRandom(5);
    VerifySettings settings = Runs.with(false, Set.of(Fault.PAUSE), java());
    Resources resources = new Resources(journal);
    try (Crew crew = new Crew(settings, journal, resources, List.of("x"), random)) {
      crew.start();
      crew.pause();
      System.out.println(journal.count(What.PAUSED) + " stopped");
      int unused = System.in.read();
    }
  }
}
