// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.Operation.Kind;
import java.util.Optional;

/** What a lock is, one operation after another. */
enum LockModel {
  /** One at a time. */
  MUTEX {
    @Override
    Optional<State> after(State state, Operation operation) {
      if (operation.kind() == Kind.ACQUIRE) {
        return state.count == 0 ? Optional.of(state.enter(operation, 0)) : Optional.empty();
      }
      return state.isOf(operation) ? Optional.of(state.leave()) : Optional.empty();
    }
  },

  /** One at a time, each with a greater token than all before. */
  FENCED {
    @Override
    Optional<State> after(State state, Operation operation) {
      if (operation.kind() == Kind.ACQUIRE) {
        return state.count == 0 && operation.token() > state.token
            ? Optional.of(state.enter(operation, operation.token()))
            : Optional.empty();
      }
      return state.isOf(operation) ? Optional.of(state.leave()) : Optional.empty();
    }
  },

  /** One at a time, who may come in again, with the same token, and is out when he has left as often. */
  REENTRANT {
    @Override
    Optional<State> after(State state, Operation operation) {
      boolean own = state.isOf(operation);
      if (operation.kind() == Kind.END) {
        return own ? Optional.of(state.leave()) : Optional.empty();
      }
      boolean fits = own
          ? operation.token() == state.token
          : state.count == 0 && operation.token() > state.token;
      return fits ? Optional.of(state.enter(operation, operation.token())) : Optional.empty();
    }
  };

  /**
   * What there is to know of a lock.
   *
   * @param owner who has it, or had it last
   * @param count how often he is in; 0 if it is free
   * @param token the greatest that was given
   */
  record State(String owner, int count, long token) {
    static final State FREE = new State("", 0, 0);

    boolean isOf(Operation operation) {
      return count > 0 && owner.equals(operation.owner());
    }

    State enter(Operation operation, long given) {
      return new State(operation.owner(), count + 1, given);
    }

    State leave() {
      // who had a free lock last says nothing, and would only keep equal states apart
      return new State(count == 1 ? "" : owner, count - 1, token);
    }
  }

  /** Returns what an operation makes of a lock; empty if a lock does not allow it. */
  abstract Optional<State> after(State state, Operation operation);
}
