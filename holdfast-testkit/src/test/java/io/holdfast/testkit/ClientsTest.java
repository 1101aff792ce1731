// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A store that does not answer at first is asked again; one that refuses is not. */
class ClientsTest {
  private final AtomicInteger contacts = new AtomicInteger();

  private Holdfast.Builder failing(int times, Reason reason) {
    if (contacts.incrementAndGet() <= times) {
      throw new StoreUnavailableException("as a test", null, "memory:", reason, null);
    }
    return Holdfast.builder().store("memory:");
  }

  @Test
  void connects() throws Exception {
    try (Holdfast holdfast = Clients.connect("memory:")) {
      assertThat(holdfast.lock("job").tryAcquire()).isPresent();
    }
  }

  @Test
  void storeThatDoesNotAnswer_isAskedAgain() {
    try (Holdfast holdfast = Clients.build(() -> failing(2, Reason.UNREACHABLE))) {
      assertThat(holdfast.guarantees().store()).isNotEmpty();
    }
    assertThat(contacts).hasValue(3);
  }

  @Test
  void storeThatRefuses_isNotAskedAgain() {
    assertThatThrownBy(() -> Clients.build(() -> failing(2, Reason.REFUSED)).close())
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(contacts).hasValue(1);
  }
}
