// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.testkit.ManualClock;
import io.holdfast.verify.VerifySettings.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What is done to a server of our own, and that it is undone. */
class DisturbanceTest {
  private static final Set<Fault> ALL = EnumSet.of(Fault.RESTART, Fault.PARTITION, Fault.CLOCK);

  private final ManualClock clock = new ManualClock();
  private final Journal journal = new Journal();
  private final Server server = new Server(ALL);

  /** Notes what is done to it. */
  private static final class Server implements OwnServer {
    private final Set<Fault> faults;
    private final List<String> done = new ArrayList<>();

    Server(Set<Fault> faults) {
      this.faults = faults;
    }

    @Override
    public Set<Fault> faults() {
      return faults;
    }

    @Override
    public void restart() {
      done.add("restart");
    }

    @Override
    public void cut() {
      done.add("cut");
    }

    @Override
    public void heal() {
      done.add("heal");
    }

    @Override
    public void setClock(Duration ahead) {
      done.add(ahead.isZero() ? "right" : "wrong");
    }
  }

  private Disturbance disturbance(Set<Fault> faults) {
    VerifySettings settings = Runs.with(true, faults);
    SplittableRandom random = new SplittableRandom(3);
    Crew crew = new Crew(settings, journal, new Resources(journal), List.of("x"), random);
    return new Disturbance(crew, server, null, settings, journal, clock, random);
  }

  private void pass(Disturbance disturbance, Duration time) throws Exception {
    Duration step = Duration.ofMillis(20);
    for (Duration gone = Duration.ZERO; gone.compareTo(time) < 0; gone = gone.plus(step)) {
      clock.advance(step);
      disturbance.step();
    }
  }

  @Test
  void eachFault_takesPlaceAndIsNoted() throws Exception {
    Disturbance disturbance = disturbance(ALL);
    pass(disturbance, Duration.ofSeconds(20));
    disturbance.quiet();
    assertThat(server.done).contains("restart", "cut", "heal", "wrong", "right");
    for (Fault fault : ALL) {
      assertThat(journal.count(fault.what())).as("%s", fault).isPositive();
    }
    assertThat(journal.count(What.RESTARTED))
        .isEqualTo(server.done.stream().filter("restart"::equals).count());
    assertThat(journal.count(What.CUT))
        .isEqualTo(server.done.stream().filter("cut"::equals).count());
    assertThat(journal.count(What.STEPPED))
        .isEqualTo(
            server.done.stream().filter(each -> each.matches("right|wrong")).count());
  }

  /** One at a time, and none lasts for longer than two leases. */
  @Test
  void whatLasts_isEndedBeforeTheNextOne() throws Exception {
    Disturbance disturbance = disturbance(Set.of(Fault.PARTITION, Fault.CLOCK));
    pass(disturbance, Duration.ofSeconds(20));
    disturbance.quiet();
    for (int i = 0; i < server.done.size(); i += 2) {
      assertThat(server.done.subList(i, i + 2))
          .isIn(List.of("cut", "heal"), List.of("wrong", "right"));
    }
    assertThat(server.done.size()).isBetween(8, 80);
  }

  @Test
  void quiet_endsWhatLasts_once() throws Exception {
    Disturbance disturbance = disturbance(Set.of(Fault.PARTITION));
    while (server.done.isEmpty()) {
      pass(disturbance, Duration.ofMillis(20));
    }
    disturbance.quiet();
    disturbance.quiet();
    assertThat(server.done).containsExactly("cut", "heal");
  }

  @Test
  void faultsThatTheServerDoesNotHave_areRefused() {
    VerifySettings settings = Runs.with(true, Set.of(Fault.CLOCK));
    assertThatThrownBy(() -> new Verification(settings, line -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("clock");
    assertThatThrownBy(
            () -> new Verification(settings, new Server(Set.of(Fault.RESTART)), line -> {}))
        .hasMessageContaining("clock");
  }
}
