// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.sim.Fates.Message;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Takes requests to the store and answers back; or does not. */
final class SimNetwork {
  private final SimWorld world;
  private final Fates fates;

  /** How many messages were sent, requests and answers alike: the points at which a sweep lets something happen. */
  long messages;

  SimNetwork(SimWorld world, Fates fates) {
    this.world = world;
    this.fates = fates;
  }

  /**
   * Sends a request.
   *
   * @param atStore applies it, given the store's time at which it arrived
   * @param answered told the answer, if one comes
   * @param failed told that it failed, if that is noticed
   */
  <T> void send(
      SimProcess from,
      Message message,
      LongFunction<T> atStore,
      Consumer<T> answered,
      Consumer<Throwable> failed) {
    long id = ++messages;
    Fault failure = fates.failure(from, message);
    if (failure != null) {
      world.count(failure);
      world.tell(from, message, id, "fails: " + failure);
      boolean refused = failure == Fault.REFUSED;
      from.after(
          world.setup.latency,
          () -> failed.accept(new StoreException(
              refused ? "refused" : "broken",
              StoreUnavailableException.Reason.UNREACHABLE,
              refused,
              null)));
      if (refused) {
        return;
      }
    }
    long delay = fates.request(from, message);
    if (world.trace != null) {
      world.tell(from, message, id, delay == Fates.LOST ? "is lost" : "sent");
    }
    long again = fates.again(from, message);
    if (delay != Fates.LOST) {
      boolean answeredFirst = again <= 0;
      travel(
          from, message, id, delay, again == Fates.NONE, atStore, answeredFirst ? answered : null);
    }
    if (again != Fates.NONE) {
      travel(from, message, id, Math.max(0, delay) + again, false, atStore, null);
    }
  }

  private <T> void travel(
      SimProcess from,
      Message message,
      long id,
      long delay,
      boolean mayWait,
      LongFunction<T> atStore,
      @Nullable Consumer<T> answered) {
    world.after(delay, () -> {
      long arrived = world.server.micros();
      long wait = !mayWait ? 0 : fates.storeWait(from, message);
      if (wait == 0) {
        apply(from, message, id, arrived, atStore, answered);
      } else {
        world.after(wait, () -> apply(from, message, id, arrived, atStore, answered));
      }
    });
  }

  private <T> void apply(
      SimProcess from,
      Message message,
      long id,
      long arrived,
      LongFunction<T> atStore,
      @Nullable Consumer<T> answered) {
    if (world.server.isDown()) {
      return;
    }
    T answer = atStore.apply(arrived);
    if (world.trace != null) {
      world.tell(from, message, id, "applied: " + answer);
    }
    if (answered == null) {
      return;
    }
    messages++;
    long delay = fates.reply(from, message);
    if (delay != Fates.LOST) {
      from.after(delay, () -> {
        world.tell(from, message, id, "answered");
        answered.accept(answer);
      });
    }
  }

  /** The store says something unasked. */
  void push(SimProcess to, Runnable told) {
    messages++;
    long delay = fates.reply(to, Message.PUSH);
    if (delay != Fates.LOST) {
      to.after(delay, told);
    }
  }
}
