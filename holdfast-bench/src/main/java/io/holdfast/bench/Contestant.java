// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import io.holdfast.measure.Contention;
import io.holdfast.measure.HandOver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One of several processes that take locks; {@link Contestants} tells it what to do, a line at a time, and it answers in
 * one line. It ends with its input.
 *
 * <pre>
 *   meet PEER                          -> met
 *   contend PEER NAME MILLIS THREADS   -> cycles,... rate waits   (the cycles of each thread)
 *   pass PEER NAME MILLIS PAUSE        -> granted:released,...   (readings of the clock that all processes share)
 *   swap PEER NAME MILLIS PAUSE        -> the same
 *   keep PEER NAME MILLIS HOLDS        -> cpuNanos bytesEach lost
 * </pre>
 */
final class Contestant {
  private static final Ticker TICKER = Ticker.system();

  private final Peers peers;
  private final SharedCount count;

  private Contestant(Peers peers, SharedCount count) {
    this.peers = peers;
    this.count = count;
  }

  /** {@code SERVER FILE}: see {@link Peers#of}, and that of the {@link SharedCount}. */
  public static void main(String[] args) throws Exception {
    Contestant contestant = new Contestant(Peers.of(args[0]), new SharedCount(Path.of(args[1])));
    contestant.obey();
    // also if a client leaves threads behind
    System.exit(0);
  }

  private void obey() throws Exception {
    System.out.println("ready");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      // names of peers have blanks
      String[] words = line.split("\t", -1);
      Peer peer = peers.get(words[1]);
      if (words[0].equals("meet")) {
        System.out.println("met");
        continue;
      }
      Duration time = Duration.ofMillis(Long.parseLong(words[3]));
      int number = Integer.parseInt(words[4]);
      System.out.println(
          switch (words[0]) {
            case "contend" -> contend(peer.lock(words[2]), time, number);
            case "pass" -> pass(peer.lock(words[2]), time, number);
            case "swap" -> swap(peer.lock(words[2]), time, number);
            case "keep" -> keep(peer, words[2], time, number);
            default -> throw new IOException("not understood: " + line);
          });
    }
    peers.close();
  }

  private String contend(Contention.Guard lock, Duration time, int threads) throws Exception {
    Contention.Guard counting = inside -> lock.run(() -> {
      count.increment();
      inside.run();
    });
    Contention contention = new Contention(Collections.nCopies(threads, counting));
    double rate = contention.perSecond(time);
    String cycles = Arrays.stream(contention.cyclesOfEach())
        .mapToObj(Long::toString)
        .collect(Collectors.joining(","));
    return cycles + "\t" + rate + "\t" + contention.waits().encode();
  }

  /** Takes the lock, has it for a pause, lets it go and stays away for another one: the other process waits by then. */
  private static String pass(Contention.Guard lock, Duration time, int pauseMicros)
      throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    List<String> turns = new ArrayList<>();
    long[] at = new long[2];
    long end = TICKER.nanos() + time.toNanos();
    while (TICKER.nanos() - end < 0) {
      lock.run(() -> {
        at[0] = TICKER.nanos();
        pause(never, pauseMicros);
        at[1] = TICKER.nanos();
      });
      turns.add(at[0] + ":" + at[1]);
      pause(never, pauseMicros / 2);
    }
    return String.join(",", turns);
  }

  /** The same, and stays away until the other process has had the lock. */
  private String swap(Contention.Guard lock, Duration time, int pauseMicros) throws Exception {
    return HandOver.take(lock, count, time, Duration.of(pauseMicros, ChronoUnit.MICROS)).stream()
        .map(turn -> turn.granted() + ":" + turn.released())
        .collect(Collectors.joining(","));
  }

  private static void pause(CountDownLatch never, int micros) {
    try {
      if (never.await(micros, TimeUnit.MICROSECONDS)) {
        throw new IllegalStateException("no thread counts down");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("no thread interrupts", e);
    }
  }

  private static String keep(Peer peer, String name, Duration time, int holds) throws Exception {
    // classes, pools and timers are there before anything is counted
    Peer.Held warm = peer.hold(name + "warm");
    long before = Usage.usedAfterFullCollection();
    List<Peer.Held> held = new ArrayList<>(holds);
    for (int i = 0; i < holds; i++) {
      held.add(peer.hold(name + i));
    }
    long bytes = Usage.usedAfterFullCollection() - before;
    long cpu = Usage.cpuNanos();
    pause(new CountDownLatch(1), Math.toIntExact(time.toMillis() * 1000));
    cpu = Usage.cpuNanos() - cpu;
    long lost = held.stream().filter(each -> !each.isStillHeld()).count();
    return cpu + "\t" + bytes / holds + "\t" + (warm.isStillHeld() ? lost : lost + 1);
  }
}
