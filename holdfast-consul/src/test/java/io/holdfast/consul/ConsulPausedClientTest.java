// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LockTakerProcess;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Renewals of a client that is stopped for a time, as by a debugger or a host that sleeps. */
@Tag("stores")
class ConsulPausedClientTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final String prefix = ConsulUnderTest.nextPrefix();
  private final String uri =
      ConsulUnderTest.server().uri() + "?holdfast.prefix=" + prefix + ConsulUnderTest.BRIEF;
  private final LockTakerProcess taker = LockTakerProcess.start(uri);
  private final Holdfast other = Holdfast.connect(uri);

  @AfterEach
  void close() {
    other.close();
    taker.close();
  }

  private long acquire(int leaseMillis) {
    String held = taker.ask("acquire job " + leaseMillis + " true");
    assertThat(held).startsWith("HELD ");
    return Long.parseLong(held.substring(5));
  }

  private String session() {
    String seen =
        ConsulUnderTest.server().call("GET", "/v1/kv/" + prefix + "lock:job?consistent", "");
    return Json.text(Json.list(Json.read(seen)).get(0), "Session");
  }

  private static void passes(int millis) {
    long begin = System.nanoTime();
    Await.until(millis + " ms pass", () -> System.nanoTime() - begin > millis * 1_000_000L);
  }

  /** Stopped for less than its lease, it goes on with the same session, and with its renewals. */
  @Test
  void stoppedForLessThanALease_goesOn() throws Exception {
    acquire(9_000);
    String session = session();
    taker.stop();
    passes(3_000);
    taker.letGoOn();
    // more than a lease: by then it has been renewed, or is lost
    passes(10_000);
    // at risk for a moment, if this machine stands still just then; what is lost stays lost
    Await.until("it is held", () -> taker.ask("state").equals("STATE HELD true 0"));
    assertThat(session()).isEqualTo(session);
    assertThat(other.lock("job", LONG).tryAcquire()).isEmpty();
    assertThat(taker.ask("release")).isEqualTo("RELEASED true");
  }

  /**
   * Stopped for longer than its lease, and not for so long that the server, which waits for twice the time, has ended its
   * session: a renewal would be acknowledged, and the hold is lost all the same, and never comes back.
   */
  @Test
  @Warns("lock=job .*hold lost")
  void stoppedForLongerThanALease_isLost_thoughItsSessionLives() throws Exception {
    long token = acquire(6_000);
    String session = session();
    taker.stop();
    passes(7_000);
    assertThat(session()).isEqualTo(session);
    taker.letGoOn();
    Await.until("it was told", () -> taker.ask("state").equals("STATE LOST false 1"));
    try (Hold next = other.lock("job", LONG).acquire()) {
      assertThat(next.token()).isGreaterThan(token);
      assertThat(taker.ask("state")).isEqualTo("STATE LOST false 1");
      assertThat(taker.ask("release")).isEqualTo("RELEASED false");
      assertThat(next.isValid()).isTrue();
    }
  }
}
