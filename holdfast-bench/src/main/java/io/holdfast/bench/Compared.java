// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Measures peers in turns, and says how we stand beside one of them. */
final class Compared {
  private Compared() {}

  /** Returns what each of the named peers reached. */
  static Map<String, Samples> measure(
      Scale trials, Peers peers, List<String> names, Function<Peer, Trials.Contender> contender)
      throws Exception {
    List<Samples> rates = Trials.interleave(
        trials, names.stream().map(peers::get).map(contender).toArray(Trials.Contender[]::new));
    Map<String, Samples> byName = new LinkedHashMap<>();
    for (String name : names) {
      byName.put(name, rates.get(byName.size()));
    }
    return byName;
  }

  /** One thread that takes a lock and lets it go. */
  static Trials.Contender alone(Scale scale, Peer peer) {
    Loop.Cycle cycle = peer.cycle("uncontended");
    return () -> Loop.perSecond(scale.trial(), 10, cycle);
  }

  /**
   * Threads that want a lock.
   *
   * @param name of one lock, or with a place for a number: a lock for each thread
   */
  static Trials.Contender contention(Scale scale, Peer peer, int threads, String name) {
    Contention contention = new Contention(
        IntStream.range(0, threads).mapToObj(i -> peer.lock(Row.text(name, i))).toList());
    return () -> {
      double rate = contention.perSecond(scale.trial());
      if (!name.contains("%") && contention.violations() > 0) {
        throw new IllegalStateException(contention.violations() + " times two had the lock");
      }
      return rate;
    };
  }

  /** Returns how many times as much we do as another. */
  static Row row(
      String name, String chinese, Map<String, Samples> rates, String beside, double bar) {
    Samples ours = Objects.requireNonNull(rates.get(Peers.US));
    double ratio = ours.median() / Objects.requireNonNull(rates.get(beside)).median();
    String others = rates.entrySet().stream()
        .filter(each -> !each.getKey().equals(Peers.US))
        .map(each -> each.getKey() + " " + Row.spread(each.getValue(), "/s"))
        .collect(Collectors.joining("; "));
    return Row.now(
        name,
        chinese,
        Row.spread(ours, "/s") + "; " + others,
        Row.text(bar < 1 ? ">= %.2f" : ">= %.0f x", bar),
        Row.text("%.2f", ratio),
        ratio >= bar);
  }
}
