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
    List<Samples> rates = Trials.interleaveWarm(
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

  /** Threads that have a lock each. */
  static List<Figure> separate(Scale scale, Peers peers, List<String> names) throws Exception {
    List<Contention> contentions = contentions(peers, names, "separate:%d");
    return figures(names, Trials.interleaveWarm(scale, turns(scale, contentions)), contentions);
  }

  /** Threads that want one lock. */
  static List<Figure> shared(Scale scale, Peers peers, List<String> names) throws Exception {
    List<Contention> contentions = contentions(peers, names, "one");
    List<Figure> figures =
        figures(names, Trials.interleave(scale, turns(scale, contentions)), contentions);
    return IntStream.range(0, names.size())
        .mapToObj(i -> figures.get(i).with(Figure.VIOLATIONS, contentions.get(i).violations()))
        .toList();
  }

  /** All threads of each; the lock's name may have a place for the number of the thread. */
  private static List<Contention> contentions(Peers peers, List<String> names, String lock) {
    return names.stream()
        .map(peers::get)
        .map(peer -> IntStream.range(0, THREADS)
            .mapToObj(i -> peer.lock(Text.of(lock, i)))
            .toList())
        .map(Contention::new)
        .toList();
  }

  /** The threads of each take turns with those of the others. */
  static Trials.Contender[] turns(Scale scale, List<Contention> contentions) {
    return contentions.stream()
        .<Trials.Contender>map(each -> () -> each.perSecond(scale.trial()))
        .toArray(Trials.Contender[]::new);
  }

  private static List<Figure> figures(
      List<String> names, List<Samples> rates, List<Contention> contentions) {
    return IntStream.range(0, names.size())
        .mapToObj(i -> figure(names.get(i), rates.get(i), contentions.get(i)))
        .toList();
  }

  /** What threads reached. */
  static Figure figure(String name, Samples rates, Contention contention) {
    return Figure.of(name, rates)
        .with(contention.waits())
        .with("least/most of a thread", contention.leastToMost());
  }
}
