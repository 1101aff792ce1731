// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.holdfast.measure.Loop;
import io.holdfast.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Measures peers in turns. */
final class Compared {
  /** So many want a lock, or one each. */
  static final int THREADS = 16;

  private static final int BATCH = 10;

  private Compared() {}

  /** One thread that takes a free lock and lets it go, by each of those that are named; then once more for the waits. */
  static List<Figure> alone(Scale scale, Peers peers, List<String> names) throws Exception {
    List<Samples> rates = Trials.interleave(
        scale,
        names.stream().map(name -> alone(scale, peers.get(name))).toArray(Trials.Contender[]::new));
    List<Figure> figures = new ArrayList<>();
    for (String name : names) {
      Contention waits = new Contention(List.of(peers.get(name).lock("waits")));
      waits.perSecond(scale.trial());
      figures.add(Figure.of(name, rates.get(figures.size())).with(waits.waits()));
    }
    return figures;
  }

  /** One thread that takes a free lock and lets it go. */
  static Trials.Contender alone(Scale scale, Peer peer) {
    Loop.Cycle cycle = peer.cycle("uncontended");
    return () -> Loop.perSecond(scale.trial(), BATCH, cycle);
  }

  /**
   * Threads that want a lock.
   *
   * @param lock its name; with a place for a number, a lock for each thread
   */
  static List<Figure> contention(
      Scale scale, Peers peers, List<String> names, int threads, String lock) throws Exception {
    boolean shared = !lock.contains("%");
    List<Contention> contentions = names.stream()
        .map(peers::get)
        .map(peer -> IntStream.range(0, threads)
            .mapToObj(i -> peer.lock(Text.of(lock, i)))
            .toList())
        .map(Contention::new)
        .toList();
    List<Samples> rates = Trials.interleave(
        scale,
        contentions.stream()
            .<Trials.Contender>map(each -> () -> each.perSecond(scale.trial()))
            .toArray(Trials.Contender[]::new));
    List<Figure> figures = new ArrayList<>();
    for (String name : names) {
      int which = figures.size();
      Figure figure = figure(name, rates.get(which), contentions.get(which));
      figures.add(
          shared ? figure.with(Figure.VIOLATIONS, contentions.get(which).violations()) : figure);
    }
    return figures;
  }

  /** What threads reached. */
  static Figure figure(String name, Samples rates, Contention contention) {
    return Figure.of(name, rates)
        .with(contention.waits())
        .with("least/most of a thread", contention.leastToMost());
  }
}
