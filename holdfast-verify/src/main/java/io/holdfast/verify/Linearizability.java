// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.LockModel.State;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Looks for an order of operations, each at a moment of its interval, that a {@link LockModel} allows: the search of Wing
 * and Gong ("Testing and verifying concurrent objects", 1993) which, as Lowe has it ("Testing for linearizability", 2017),
 * does not come twice to the same set of operations in the same state. An open operation may take effect, or not.
 */
final class Linearizability {
  private final LockModel model;
  private final List<Operation> operations;
  private final Set<Node> been = new HashSet<>();
  private int furthest;

  private Linearizability(LockModel model, List<Operation> operations) {
    this.model = model;
    this.operations = new ArrayList<>(operations);
    this.operations.sort(Comparator.comparingLong(Operation::from));
  }

  /**
   * How far an order has come: all operations before the first one that is left, some after it, and what they made of the
   * lock. The rest is left; so two nodes that are equal have the same future.
   */
  private record Node(int first, Set<Integer> beyond, State state) {
    boolean has(int index) {
      return index < first || beyond.contains(index);
    }

    Node and(int index, State then) {
      TreeSet<Integer> done = new TreeSet<>(beyond);
      done.add(index);
      int next = first;
      while (done.remove(next)) {
        next++;
      }
      return new Node(next, done, then);
    }
  }

  /**
   * Looks for an order.
   *
   * @return empty if there is one; else an operation at which every order ends
   */
  static Optional<Operation> brokenAt(LockModel model, List<Operation> operations) {
    return new Linearizability(model, operations).search();
  }

  private Optional<Operation> search() {
    Deque<Deque<Node>> path = new ArrayDeque<>();
    Node begin = new Node(0, new TreeSet<>(), State.FREE);
    if (isOver(begin)) {
      return Optional.empty();
    }
    path.push(next(begin));
    while (!path.isEmpty()) {
      Node node = path.element().poll();
      if (node == null) {
        path.pop();
      } else if (isOver(node)) {
        return Optional.empty();
      } else if (been.add(node)) {
        path.push(next(node));
      }
    }
    return Optional.of(operations.get(furthest));
  }

  /** What can come next: whatever began before anything that is left was over. */
  private Deque<Node> next(Node node) {
    Deque<Node> next = new ArrayDeque<>();
    long firstEnd = Long.MAX_VALUE;
    for (int i = node.first; i < operations.size(); i++) {
      Operation each = operations.get(i);
      if (each.from() > firstEnd) {
        break;
      }
      if (!node.has(i)) {
        firstEnd = Math.min(firstEnd, each.until());
      }
    }
    for (int i = node.first; i < operations.size() && operations.get(i).from() <= firstEnd; i++) {
      int index = i;
      if (!node.has(i)) {
        model
            .after(node.state, operations.get(i))
            .ifPresent(then -> next.add(node.and(index, then)));
      }
    }
    return next;
  }

  /** Only what is open is left. */
  private boolean isOver(Node node) {
    for (int i = node.first; i < operations.size(); i++) {
      if (!node.has(i) && !operations.get(i).isOpen()) {
        furthest = Math.max(furthest, i);
        return false;
      }
    }
    return true;
  }
}
