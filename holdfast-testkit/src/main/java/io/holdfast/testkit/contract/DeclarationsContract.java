// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockStore;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a store declares is what it does: no more, no less, nothing skipped silently. */
abstract class DeclarationsContract extends Contract {
  /** The guarantees make sense, and {@code require} takes them at their word. */
  @Test
  void guarantees_makeSense() {
    Guarantees guarantees = client().guarantees();
    assertFalse(guarantees.store().isBlank());
    assertTrue(guarantees.shortestLease().toNanos() > 0);
    assertTrue(guarantees.longestLease().compareTo(LockOptions.DEFAULT_LEASE) >= 0);
    assertTrue(guarantees.shortestLease().compareTo(LockOptions.DEFAULT_LEASE) <= 0);
    assertFalse(guarantees.granularity().isNegative());
    assertFalse(guarantees.wakesWithin().isNegative());
    assertTrue(guarantees.wakesWithin().compareTo(LockOptions.DEFAULT_LEASE) < 0);
    assertSame(guarantees, guarantees.require());
    assertSame(guarantees, guarantees.require(guarantees.given().toArray(new Guarantee[0])));
  }

  /** What is not given is named, all of it, when somebody requires it. */
  @Test
  void require_whatIsNotGiven_namesIt() {
    Guarantees guarantees = client().guarantees();
    Set<Guarantee> missing = EnumSet.allOf(Guarantee.class);
    missing.removeAll(guarantees.given());
    if (missing.isEmpty()) {
      assertSame(guarantees, guarantees.require(Guarantee.values()));
      return;
    }
    ConfigurationException refused =
        assertThrows(ConfigurationException.class, () -> guarantees.require(Guarantee.values()));
    missing.forEach(each -> assertTrue(String.valueOf(refused.getMessage()).contains(each.name())));
    guarantees
        .given()
        .forEach(each -> assertFalse(String.valueOf(refused.getMessage()).contains(each.name())));
  }

  /** A store that does not know all waiters of a lock that is taken knows no more of those of a free one. */
  @Test
  void waitersOfFreeLock_areAsKnownAsThoseOfATakenOne() throws Exception {
    try (Hold hold = client().lock(name, LONG).acquire();
        LockStore other = store().open()) {
      assertEquals(inStore().orElseThrow().waiters(), other.waitersOfFreeLock());
      assertTrue(hold.release());
    }
  }

  /** {@code fair} works where it is declared; elsewhere it is refused as soon as it is named, before anything is asked. */
  @Test
  void fair_isGivenOrRefused() throws Exception {
    LockOptions fair = LONG.toBuilder().fair(true).build();
    Holdfast holdfast = client();
    assertEquals(declares(Capability.FAIR), gives(Guarantee.FAIR));
    if (declares(Capability.FAIR)) {
      assertTrue(holdfast.lock(name, fair).acquire().release());
      return;
    }
    assertThrows(ConfigurationException.class, () -> holdfast.lock(name, fair).name());
    DistributedLock plain = holdfast.lock(name, LONG);
    assertThrows(ConfigurationException.class, () -> plain.withOptions(fair).name());
    assertThrows(
        ConfigurationException.class,
        () -> client(builder -> builder.defaultOptions(fair)).lock(name).name());
    assertFalse(isTaken());
    assertTrue(plain.acquire().release());
  }

  /** Capabilities of the test's store and guarantees of the product agree; hooks that are not declared refuse. */
  @Test
  void capabilities_agreeWithTheGuarantees() {
    assertEquals(declares(Capability.PROCESSES), gives(Guarantee.EXCLUDES_PROCESSES));
    if (gives(Guarantee.EXCLUDES_MACHINES)) {
      assertTrue(gives(Guarantee.EXCLUDES_PROCESSES));
    }
    if (gives(Guarantee.HOLDS_SURVIVE_RESTART) || gives(Guarantee.TOKENS_SURVIVE_RESTART)) {
      assertTrue(declares(Capability.RESTART), "a restart that is survived must be tested");
    }
    if (!declares(Capability.PROCESSES)) {
      assertThrows(UnsupportedOperationException.class, () -> store().uri());
    }
    if (!declares(Capability.RESTART)) {
      assertThrows(UnsupportedOperationException.class, () -> store().restart());
    }
    if (!declares(Capability.STALL)) {
      assertThrows(UnsupportedOperationException.class, () -> store().stall());
      assertThrows(UnsupportedOperationException.class, () -> store().resume());
    }
  }

  /** What is not promised has its exceptions written down. */
  @Test
  void exceptions_areSaid() {
    Guarantees guarantees = client().guarantees();
    if (!guarantees.given().containsAll(Arrays.asList(Guarantee.values()))) {
      assertFalse(guarantees.exceptions().isEmpty());
    }
    guarantees.exceptions().forEach(each -> assertFalse(each.isBlank()));
  }

  /** The options with which a lock was made are its own; the defaults are the client's. */
  @Test
  void defaultOptions_areUsed() throws Exception {
    Holdfast holdfast =
        client(builder -> builder.defaultOptions(LONG.toBuilder().note("mine").build()));
    try (Hold hold = holdfast.lock(name).acquire()) {
      assertEquals("mine", inStore().orElseThrow().holder().orElseThrow().note());
      assertEquals(name, hold.lockName());
    }
    DistributedLock other = holdfast.lock(name).withOptions(LockOptions.defaults());
    assertEquals(name, other.name());
    try (Hold hold = other.acquire()) {
      assertEquals("", inStore().orElseThrow().holder().orElseThrow().note());
      assertTrue(hold.isValid());
    }
  }

  private boolean declares(Capability capability) {
    return store().capabilities().contains(capability);
  }

  private boolean gives(Guarantee guarantee) {
    return observer().guarantees().given().contains(guarantee);
  }
}
