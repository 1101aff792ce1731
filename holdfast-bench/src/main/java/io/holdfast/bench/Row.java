// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One workload on one store, by all contenders in turns.
 *
 * @param store where
 * @param workload what
 * @param size of what, where the workload has sizes, else zero
 * @param figures what each reached, ours among them
 * @param bars what ours has to reach
 * @param load what else the machine had to do: the load average of the last minute, at the end of the measurement
 */
record Row(
    String store, Workload workload, int size, List<Figure> figures, List<Bar> bars, double load) {
  /** The part that the process with the fewest acquisitions has of what the one with the most has. */
  private static final double EVEN = 0.5;

  Row {
    figures = List.copyOf(figures);
    bars = List.copyOf(bars);
  }

  /** Makes a row now, so that the load is that of its measurement. */
  static Row now(String store, Workload workload, List<Figure> figures) {
    return now(store, workload, 0, figures);
  }

  static Row now(String store, Workload workload, int size, List<Figure> figures) {
    return new Row(store, workload, size, figures, List.of(), loadNow());
  }

  static double loadNow() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  Row with(Bar bar) {
    List<Bar> more = new ArrayList<>(bars);
    more.add(bar);
    return new Row(store, workload, size, figures, more, load);
  }

  /** Returns the same, with somebody who was measured after the others; the load is that of now. */
  Row beside(Figure figure) {
    List<Figure> more = new ArrayList<>(figures);
    more.add(figure);
    return new Row(store, workload, size, more, bars, loadNow());
  }

  /** Ours has to be at least so many times another's. */
  Row atLeast(String beside, double bar) {
    return with(Bar.atLeast(ours().median() / figure(beside).median(), beside, bar));
  }

  /** Ours may be at most so many times another's. */
  Row atMost(String beside, double bar) {
    return with(Bar.atMost(ours().median() / figure(beside).median(), beside, bar));
  }

  /** No process may be left behind. */
  Row even() {
    double even = ours().beside(Processes.EVEN);
    return with(new Bar(
        "acquisitions of a process, least to most",
        Text.of(">= %.2f", EVEN),
        Text.of("%.2f", even),
        even >= EVEN));
  }

  Figure figure(String who) {
    return figures.stream().filter(each -> each.who().equals(who)).findFirst().orElseThrow();
  }

  Figure ours() {
    return figure(Peers.US);
  }

  /** Returns the best of those who have a role, if anybody has. */
  Optional<Figure> best(Role role) {
    return figures.stream()
        .filter(each -> each.role() == role)
        .max(Comparator.comparingDouble(each -> workload.unit().better(each.median(), 1)));
  }

  /** Returns whether another lock is ahead of ours. */
  boolean isBehind() {
    return best(Role.PEER)
        .filter(peer -> workload.unit().better(ours().median(), peer.median()) < 1)
        .isPresent();
  }

  /** Says who is ahead, of those whose locks can be used, and by how much. */
  String winner() {
    Optional<Figure> peer = best(Role.PEER);
    if (peer.isEmpty()) {
      return "–";
    }
    double ratio = workload.unit().better(ours().median(), peer.get().median());
    return ratio >= 1
        ? Text.of("Holdfast, %s x", Text.number(ratio))
        : Text.of("**%s**, %s x", peer.get().who(), Text.number(1 / ratio));
  }

  /** How often two had a lock at once, whoever's lock it was. */
  double violations() {
    return figures.stream().mapToDouble(each -> each.beside(Figure.VIOLATIONS)).sum();
  }

  /** Says all of it in one line. */
  String text() {
    String all = figures.stream()
        .map(each -> each.who() + " " + each.spread() + " " + workload.unit().sign()
            + each.beside().entrySet().stream()
                .map(more -> ", " + more.getKey() + " " + Text.number(more.getValue()))
                .collect(Collectors.joining()))
        .collect(Collectors.joining("; "));
    String reached = bars.stream()
        .map(bar -> "; " + bar.what() + " " + bar.reached() + ", wanted " + bar.wanted()
            + (bar.met() ? ", met" : ", missed"))
        .collect(Collectors.joining());
    return Text.of("%s, %s: %s%s (load %.1f)", store, workload.english(size), all, reached, load);
  }
}
