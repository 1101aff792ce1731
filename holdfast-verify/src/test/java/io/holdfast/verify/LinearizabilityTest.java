// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.verify.LockModel.State;
import io.holdfast.verify.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Finds an order where there is one, and none where there is none. */
class LinearizabilityTest {
  private static final int HISTORIES = 20_000;

  private static Operation acquire(String owner, long token, long from, long until) {
    return new Operation(Kind.ACQUIRE, owner, token, from, until);
  }

  private static Operation end(String owner, long token, long from, long until) {
    return new Operation(Kind.END, owner, token, from, until);
  }

  private static boolean fits(LockModel model, Operation... operations) {
    return Linearizability.brokenAt(model, List.of(operations)).isEmpty();
  }

  @Test
  void mutex_oneAfterAnother() {
    assertThat(fits(
            LockModel.MUTEX,
            acquire("a", 1, 0, 1),
            end("a", 1, 2, 3),
            acquire("b", 2, 0, 4),
            end("b", 2, 5, 6)))
        .isTrue();
  }

  @Test
  void mutex_twoAtATime() {
    assertThat(Linearizability.brokenAt(
            LockModel.MUTEX,
            List.of(
                acquire("a", 1, 0, 1),
                acquire("b", 2, 2, 3),
                end("a", 1, 4, 5),
                end("b", 2, 4, 5))))
        .hasValueSatisfying(at -> assertThat(at.owner()).isEqualTo("b"));
  }

  /** Lost at some time after it was seen to be valid for the last time: before the other one had it, or not. */
  @Test
  void mutex_lossIsOpen() {
    Operation lost = end("a", 1, 3, Operation.OPEN);
    assertThat(fits(LockModel.MUTEX, acquire("a", 1, 0, 1), lost, acquire("b", 2, 2, 4)))
        .isTrue();
    assertThat(fits(LockModel.MUTEX, acquire("a", 1, 0, 1), lost)).isTrue();
    assertThat(fits(LockModel.MUTEX, acquire("a", 1, 0, 1), lost, acquire("b", 2, 1, 2)))
        .isFalse();
  }

  /** The order that times leave open is the tokens'. */
  @Test
  void fenced_tokensGrow() {
    Operation a = acquire("a", 2, 0, 9);
    Operation b = acquire("b", 1, 0, 9);
    Operation endA = end("a", 2, 1, 9);
    Operation endB = end("b", 1, 1, 9);
    assertThat(fits(LockModel.FENCED, a, b, endA, endB)).isTrue();
    Operation late = acquire("b", 1, 10, 11);
    assertThat(fits(LockModel.MUTEX, a, endA, late)).isTrue();
    assertThat(fits(LockModel.FENCED, a, endA, late)).isFalse();
  }

  @Test
  void reentrant_countsItsOwner() {
    Operation in = acquire("a", 1, 0, 1);
    Operation again = acquire("a", 1, 2, 3);
    Operation out = end("a", 1, 4, 5);
    Operation other = acquire("b", 2, 6, 7);
    assertThat(fits(LockModel.REENTRANT, in, again, out, end("a", 1, 5, 6), other))
        .isTrue();
    assertThat(fits(LockModel.REENTRANT, in, again, out, other)).isFalse();
    assertThat(fits(LockModel.REENTRANT, in, acquire("a", 2, 2, 3))).isFalse();
    assertThat(fits(LockModel.MUTEX, in, again)).isFalse();
  }

  /** Says the same as trying all orders, on histories of which about half are those of a lock. */
  @ParameterizedTest
  @EnumSource(LockModel.class)
  void agreesWithTryingAllOrders(LockModel model) {
    SplittableRandom random = new SplittableRandom(7);
    int[] count = new int[2];
    for (int i = 0; i < HISTORIES; i++) {
      List<Operation> history = history(random);
      boolean expected = isAnyOrder(model, State.FREE, history);
      assertThat(Linearizability.brokenAt(model, history).isEmpty())
          .as("%s", history)
          .isEqualTo(expected);
      count[expected ? 1 : 0]++;
    }
    assertThat(count[0]).isGreaterThan(HISTORIES / 10);
    assertThat(count[1]).isGreaterThan(HISTORIES / 10);
  }

  private static List<Operation> history(SplittableRandom random) {
    List<Operation> history = new ArrayList<>();
    int holds = 1 + random.nextInt(3);
    long token = 1;
    for (int i = 0; i < holds; i++) {
      long from = random.nextInt(8);
      long until = from + random.nextInt(4);
      String owner = random.nextInt(4) == 0 ? "same" : "hold " + i;
      token += random.nextInt(4) == 0 ? 0 : 1;
      history.add(acquire(owner, token, from, until));
      long ending = until + random.nextInt(3);
      boolean open = random.nextInt(3) == 0;
      history.add(
          end(owner, token, ending, open ? Operation.OPEN : ending + 1 + random.nextInt(3)));
    }
    return history;
  }

  private static boolean isAnyOrder(LockModel model, State state, List<Operation> left) {
    if (left.stream().allMatch(Operation::isOpen)) {
      return true;
    }
    for (Operation next : left) {
      List<Operation> others = new ArrayList<>(left);
      others.remove(next);
      boolean mayBeNext = others.stream().noneMatch(each -> each.until() < next.from());
      Optional<State> then = mayBeNext ? model.after(state, next) : Optional.empty();
      if (then.isPresent() && isAnyOrder(model, then.get(), others)) {
        return true;
      }
    }
    return false;
  }
}
