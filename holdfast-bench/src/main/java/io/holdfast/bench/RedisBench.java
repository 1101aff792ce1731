// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.RedisException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;

/** One Redis server that keeps nothing on disk: beside others, and beside the plainest pair of commands. */
final class RedisBench {
  private static final int THREADS = 16;
  private static final String US = "Holdfast";
  private static final String PLAIN = "plain";
  private static final String REDISSON = "Redisson";

  private final Scale scale;
  private final Map<String, RedisPeer> peers = new LinkedHashMap<>();

  private RedisBench(Scale scale, int port) {
    this.scale = scale;
    String uri = "redis://127.0.0.1:" + port;
    peers.put(PLAIN, new PlainRedis(uri));
    peers.put(US, new HoldfastRedis(uri));
    peers.put(REDISSON, new RedissonPeer(uri, RedissonClient::getLock));
    peers.put("its fair lock", new RedissonPeer(uri, RedissonClient::getFairLock));
    peers.put("its fenced lock", new RedissonPeer(uri, RedissonClient::getFencedLock));
    peers.put("Spring", new SpringPeer("127.0.0.1", port));
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("redis-server")) {
      System.out.println(
          "Redis: not measured, redis-server was not found (dev/servers brings one)");
      return List.of();
    }
    int port = ServerProcess.freePort();
    try (ServerProcess server = ServerProcess.of("redis-server")) {
      server.start(List.of(
          "--port",
          Integer.toString(port),
          "--bind",
          "127.0.0.1",
          "--save",
          "",
          "--appendonly",
          "no",
          "--dir",
          server.folder().toString()));
      Await.until("redis-server answers", () -> answers(port));
      RedisBench bench = new RedisBench(scale, port);
      try {
        return List.of(bench.uncontended(), bench.separateLocks(), bench.oneLock());
      } finally {
        bench.peers.values().forEach(RedisPeer::close);
      }
    }
  }

  private static boolean answers(int port) {
    try {
      new PlainRedis("redis://127.0.0.1:" + port).close();
      return true;
    } catch (RedisException e) {
      // not yet
      return false;
    }
  }

  private Row uncontended() throws Exception {
    Map<String, Samples> rates = measure(peer -> {
      Loop.Cycle cycle = peer.cycle("uncontended");
      return () -> Loop.perSecond(scale.trial(), 10, cycle);
    });
    return row(
        "Redis: acquire and release, uncontended, against SET NX PX and a script that deletes",
        "Redis：无争用的获取与释放，对比 SET NX PX 加删除脚本",
        rates,
        PLAIN,
        0.95);
  }

  private Row separateLocks() throws Exception {
    Map<String, Samples> rates = measure(peer -> contention(peer, "separate:%d"));
    return row(
        "Redis: " + THREADS + " threads, " + THREADS + " locks, against the same pair",
        "Redis：" + THREADS + " 个线程，" + THREADS + " 把锁，对比同样的一对命令",
        rates,
        PLAIN,
        0.9);
  }

  private Row oneLock() throws Exception {
    Map<String, Samples> rates =
        measure(peer -> peer instanceof PlainRedis ? () -> 0 : contention(peer, "one"));
    return row(
        "Redis: " + THREADS + " threads, one lock, against Redisson",
        "Redis：" + THREADS + " 个线程，一把锁，对比 Redisson",
        rates,
        REDISSON,
        20);
  }

  private Trials.Contender contention(RedisPeer peer, String name) {
    Contention threads = new Contention(
        IntStream.range(0, THREADS).mapToObj(i -> peer.lock(Row.text(name, i))).toList());
    return () -> threads.perSecond(scale.trial());
  }

  /** Measures all of them in turns. */
  private Map<String, Samples> measure(Function<RedisPeer, Trials.Contender> contender)
      throws Exception {
    List<Samples> rates = Trials.interleave(
        scale, peers.values().stream().map(contender).toArray(Trials.Contender[]::new));
    Map<String, Samples> byName = new LinkedHashMap<>();
    for (String name : peers.keySet()) {
      byName.put(name, rates.get(byName.size()));
    }
    return byName;
  }

  private static Row row(
      String name, String chinese, Map<String, Samples> rates, String beside, double bar) {
    Samples ours = Objects.requireNonNull(rates.get(US));
    double ratio = ours.median() / Objects.requireNonNull(rates.get(beside)).median();
    String others = rates.entrySet().stream()
        .filter(each -> !each.getKey().equals(US) && each.getValue().median() > 0)
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
