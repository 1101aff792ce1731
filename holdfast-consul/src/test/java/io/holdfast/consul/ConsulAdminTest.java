// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Clients;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What operators are shown, beside what others have put under the prefix. */
@Tag("stores")
class ConsulAdminTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final String prefix = ConsulUnderTest.nextPrefix();
  private final Holdfast holdfast = Clients.connect(
      ConsulUnderTest.server().uri() + "?holdfast.prefix=" + prefix + ConsulUnderTest.BRIEF);
  private String session = "";

  @BeforeEach
  void begin() {
    session = Json.text(
        Json.read(call(
            "PUT",
            "/v1/session/create",
            "{\"TTL\":\"60s\",\"NodeChecks\":[],\"Behavior\":\"delete\"}")),
        "ID");
  }

  @AfterEach
  void end() {
    holdfast.close();
    call("PUT", "/v1/session/destroy/" + session, "");
  }

  private static String call(String method, String path, String body) {
    return ConsulUnderTest.server().call(method, path, body);
  }

  private void lockedByOthers(String key, String value) {
    assertThat(call("PUT", "/v1/kv/" + prefix + key + "?acquire=" + session, value))
        .contains("true");
  }

  private List<String> listed() {
    return holdfast.admin().list("").stream().map(LockInfo::name).toList();
  }

  /** Keys that others have locked under our prefix are no locks of ours, and hide none. */
  @Test
  void list_leavesOutWhatIsNotOurs() throws Exception {
    lockedByOthers("lock:a", "consul lock");
    lockedByOthers("lock:b", "");
    lockedByOthers("lock:c", "{\"Lock\":\"leader\",\"format\":\"theirs\"}");
    lockedByOthers("lock:d/.lock", "[1, 2]");
    try (Hold one = holdfast.lock("alpha", LONG).acquire();
        Hold other = holdfast.lock("omega", LONG).acquire()) {
      assertThat(listed()).containsExactly("alpha", "omega");
      assertThat(one.isValid()).isTrue();
      assertThat(other.isValid()).isTrue();
    }
    assertThat(listed()).isEmpty();
  }

  /** A list without the locks of a newer version would be wrong: it is refused. */
  @Test
  void list_refusesANewerVersion() {
    lockedByOthers("lock:a", "{\"format\":2,\"lock\":\"a\"}");
    assertThatThrownBy(this::listed)
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("newer version");
  }

  /** A key that was unlocked by hand is still there: whoever gets it next has a greater token all the same. */
  @Test
  void keyUnlockedByHand_isGrantedWithAGreaterToken() throws Exception {
    Hold first = holdfast.lock("job", LONG).acquire();
    String key = "/v1/kv/" + prefix + "lock:job";
    String holder =
        Json.text(Json.list(Json.read(call("GET", key + "?consistent", ""))).get(0), "Session");
    assertThat(call("PUT", key + "?release=" + holder, "left")).contains("true");
    try (Holdfast other = Clients.connect(
            ConsulUnderTest.server().uri() + "?holdfast.prefix=" + prefix + ConsulUnderTest.BRIEF);
        Hold next = other.lock("job", LONG).tryAcquire().orElseThrow()) {
      assertThat(next.token()).isGreaterThan(first.token());
      assertThat(first.release()).isFalse();
      assertThat(next.isValid()).isTrue();
    }
  }

  /**
   * The server tells nothing of a session's time: what is shown is no less than the holder has; a dead one's lock
   * lasts longer.
   */
  @Test
  void leaseLeft_isTheMostThatTheHolderHas() throws Exception {
    try (Hold hold = holdfast.lock("job", LONG).acquire()) {
      LockInfo info = holdfast.admin().inspect("job").orElseThrow();
      assertThat(info.leaseLeft()).isEqualTo(LONG.leaseFor()).isGreaterThan(hold.remaining());
    }
    assertThat(holdfast.guarantees().exceptions())
        .anyMatch(each -> each.contains("the most that its holder may still count on")
            && each.contains("up to twice that and the lock-delay"));
  }
}
