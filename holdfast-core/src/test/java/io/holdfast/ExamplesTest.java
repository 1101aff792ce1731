// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The examples in the documentation of the classes that a program starts from. */
class ExamplesTest {
  private record Order(String name) {}

  /** What an application has. */
  private static final class Orders {
    final List<String> saved = new ArrayList<>();

    List<Order> open() {
      return List.of(new Order("41"), new Order("42"));
    }

    void save(Order order, long token) {
      saved.add(order.name() + (token > 0 ? "" : " without a token"));
    }

    void book(Order order, long token) {
      save(order, token);
    }
  }

  private final Orders orders = new Orders();
  private final Order order = new Order("42");

  @Test
  void holdfast() throws InterruptedException {
    Holdfast holdfast = Holdfast.connect("memory:");
    DistributedLock lock = holdfast.lock("order:42");
    try (Hold hold = lock.acquire()) {
      orders.save(order, hold.token());
    }
    holdfast.close();
    assertThat(orders.saved).containsExactly("42");
  }

  @Test
  void builder() throws InterruptedException {
    Holdfast holdfast = Holdfast.builder()
        .store("memory:")
        .clientName("billing")
        .defaultOptions(LockOptions.builder().leaseFor(Duration.ofSeconds(10)).build())
        .build();
    try (Hold hold = holdfast.lock("order:42").acquire()) {
      assertThat(hold.remaining()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
      assertThat(holdfast
              .admin()
              .inspect("order:42")
              .orElseThrow()
              .holder()
              .orElseThrow()
              .client())
          .isEqualTo("billing");
    }
    holdfast.close();
  }

  @Test
  void lock() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      DistributedLock lock = holdfast.lock("order:42");
      try (Hold hold = lock.acquire()) {
        orders.save(order, hold.token());
      }
      boolean ran = lock.tryRun(hold -> orders.save(order, hold.token()));
      Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(5));
      soon.ifPresent(Hold::close);
      assertThat(ran).isTrue();
      assertThat(soon).isPresent();
      assertThat(lock.tryRun(hold -> {})).isTrue();
      assertThat(orders.saved).containsExactly("42", "42");
    }
  }

  @Test
  void hold() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      DistributedLock lock = holdfast.lock("order:42");
      try (Hold hold = lock.acquire()) {
        for (Order each : orders.open()) {
          hold.ensureValid();
          orders.save(each, hold.token());
        }
      }
      assertThat(orders.saved).containsExactly("41", "42");
    }
  }

  @Test
  void options() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      LockOptions options = LockOptions.builder()
          .leaseFor(Duration.ofSeconds(10))
          .holdAtMost(Duration.ofMinutes(5))
          .note("nightly report")
          .onLost(OnLost.interruptAcquirer())
          .build();
      DistributedLock lock = holdfast.lock("report", options);
      try (Hold hold = lock.acquire()) {
        assertThat(hold.isValid()).isTrue();
        assertThat(holdfast
                .admin()
                .inspect("report")
                .orElseThrow()
                .holder()
                .orElseThrow()
                .note())
            .isEqualTo("nightly report");
      }
    }
  }

  @Test
  void javaLock() {
    Orders shop = orders;
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      JavaLock stock = holdfast.lock("stock").asJavaLock();
      stock.lock();
      try {
        shop.book(order, stock.hold().token());
      } finally {
        stock.unlock();
      }
      assertThat(stock.holdCount()).isZero();
      assertThat(orders.saved).containsExactly("42");
    }
  }

  @Test
  void admin() throws InterruptedException {
    List<String> lines = new ArrayList<>();
    try (Holdfast holdfast = Holdfast.connect("memory:");
        Hold hold = holdfast.lock("order:42").acquire()) {
      for (LockInfo each : holdfast.admin().list("order:")) {
        lines.add(each.name() + " " + each.holder().map(Holder::describe).orElse("free"));
      }
      Optional<LockInfo> seen = holdfast.admin().inspect("order:42");
      boolean ended = seen.isPresent() && holdfast.admin().forceRelease(seen.get());
      assertThat(ended).isTrue();
      assertThat(lines).hasSize(1).first().asString().startsWith("order:42 java (host ");
      assertThat(hold.release()).isFalse();
    }
  }

  @Test
  void listenerAndOnLost() {
    List<String> alarms = new ArrayList<>();
    Holdfast holdfast = Holdfast.builder()
        .store("memory:")
        .listener(event -> {
          if (event instanceof LockEvent.Lost lost) {
            alarms.add(lost.lockName() + " was lost: " + lost.reason().explanation());
          }
        })
        .build();
    LockOptions options = LockOptions.builder()
        .onLost(OnLost.call(loss -> alarms.add(loss.getMessage())))
        .build();
    assertThat(options.onLost().callback()).isPresent();
    holdfast.close();
    assertThat(alarms).isEmpty();
  }

  @Test
  void guarantees() {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      assertThatThrownBy(() -> {
            Guarantees guarantees = holdfast.guarantees().require(Guarantee.EXCLUDES_MACHINES);
            assertThat(guarantees.given()).isNotEmpty();
          })
          .isInstanceOf(ConfigurationException.class);
    }
  }
}
