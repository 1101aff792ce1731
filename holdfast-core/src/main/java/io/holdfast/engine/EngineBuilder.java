// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.ConfigurationException;
import io.holdfast.Holdfast;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Makes engines; see {@link Holdfast.Builder}. */
public final class EngineBuilder implements Holdfast.Builder {
  private @Nullable LockStore store;
  private LockOptions defaultOptions = LockOptions.defaults();
  private String clientName = "java";
  private Duration requestTimeout = Duration.ofSeconds(2);

  /** Null: five times what a request may take, see {@link #connectTimeout()}. */
  private @Nullable Duration connectTimeout;

  private Duration storeRetryFor = Duration.ofSeconds(30);
  private @Nullable Executor callbackExecutor;
  private final List<LockListener> listeners = new ArrayList<>();
  private Ticker ticker = Ticker.system();
  private @Nullable Scheduler scheduler;
  private @Nullable RandomGenerator random;
  private @Nullable EngineTrace trace;
  private boolean lazily;

  /** Starts from the defaults. */
  public EngineBuilder() {}

  @Override
  public Holdfast.Builder store(String uri) {
    this.store = Stores.open(uri);
    return this;
  }

  @Override
  public Holdfast.Builder store(LockStore given) {
    this.store = Objects.requireNonNull(given, "store");
    return this;
  }

  @Override
  public Holdfast.Builder defaultOptions(LockOptions options) {
    this.defaultOptions = Objects.requireNonNull(options, "options");
    return this;
  }

  @Override
  public Holdfast.Builder clientName(String name) {
    Objects.requireNonNull(name, "name");
    if (name.isEmpty() || name.length() > 100 || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "clientName must be 1 to 100 characters without control characters");
    }
    this.clientName = name;
    return this;
  }

  @Override
  public Holdfast.Builder requestTimeout(Duration timeout) {
    this.requestTimeout = atLeastAMillisecond(timeout, "requestTimeout");
    return this;
  }

  @Override
  public Holdfast.Builder connectTimeout(Duration timeout) {
    this.connectTimeout = atLeastAMillisecond(timeout, "connectTimeout");
    return this;
  }

  private static Duration atLeastAMillisecond(Duration timeout, String name) {
    Objects.requireNonNull(timeout, name);
    if (timeout.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(name
          + " must be positive, and at least a millisecond, not " + DurationText.exact(timeout));
    }
    return timeout;
  }

  private Duration connectTimeout() {
    if (connectTimeout != null) {
      return connectTimeout;
    }
    Duration several = requestTimeout.multipliedBy(5);
    return several.compareTo(Duration.ofSeconds(1)) > 0 ? several : Duration.ofSeconds(1);
  }

  @Override
  public Holdfast.Builder storeRetryFor(Duration retryFor) {
    Objects.requireNonNull(retryFor, "storeRetryFor");
    if (retryFor.isNegative()) {
      throw new IllegalArgumentException(
          "storeRetryFor must not be negative, not " + DurationText.exact(retryFor));
    }
    this.storeRetryFor = retryFor;
    return this;
  }

  @Override
  public Holdfast.Builder callbackExecutor(Executor executor) {
    this.callbackExecutor = Objects.requireNonNull(executor, "executor");
    return this;
  }

  @Override
  public Holdfast.Builder listener(LockListener listener) {
    this.listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  @Override
  public Holdfast.Builder ticker(Ticker given) {
    this.ticker = Objects.requireNonNull(given, "ticker");
    return this;
  }

  @Override
  public Holdfast.Builder scheduler(Scheduler given) {
    this.scheduler = Objects.requireNonNull(given, "scheduler");
    return this;
  }

  @Override
  public Holdfast.Builder random(RandomGenerator given) {
    this.random = Objects.requireNonNull(given, "random");
    return this;
  }

  @Override
  public Holdfast.Builder connectLazily() {
    this.lazily = true;
    return this;
  }

  /**
   * Lets the simulator see what the engine does besides answering.
   *
   * @param given told, under the engine's locks
   * @return this
   */
  public EngineBuilder trace(EngineTrace given) {
    this.trace = Objects.requireNonNull(given, "trace");
    return this;
  }

  @Override
  public Holdfast build() {
    LockStore chosen = store;
    if (chosen == null) {
      throw new ConfigurationException(
          "no store was set; call store(\"...\") with an address such as sqlite:locks.db",
          "no store",
          null);
    }
    store = null;
    List<Runnable> own = new ArrayList<>();
    Executor executor = callbackExecutor;
    Executor dependents = callbackExecutor;
    if (executor == null || dependents == null) {
      CallbackThreads callbacks = new CallbackThreads("callback", clientName);
      CallbackThreads futures = new CallbackThreads("future", clientName);
      own.add(callbacks::close);
      own.add(futures::close);
      executor = callbacks;
      dependents = futures;
    }
    Scheduler timer;
    if (scheduler == null) {
      SystemScheduler thread = new SystemScheduler(clientName);
      own.add(thread::close);
      timer = thread;
    } else {
      FallbackScheduler checked = new FallbackScheduler(scheduler, clientName);
      own.add(checked::close);
      timer = checked;
    }
    String id = clientId(random != null ? random : new SecureRandom());
    RandomGenerator jitter =
        random != null ? random : () -> ThreadLocalRandom.current().nextLong();
    Engine engine = new Engine(new EngineSettings(
        chosen,
        defaultOptions,
        id,
        clientName,
        HostName.get(),
        ProcessHandle.current().pid(),
        requestTimeout,
        storeRetryFor,
        new Callbacks(executor, dependents),
        listeners,
        ticker,
        timer,
        jitter,
        trace,
        own));
    if (!lazily) {
      connect(engine, connectTimeout());
    }
    return engine;
  }

  private static void connect(Engine engine, Duration timeout) {
    boolean connected = false;
    try {
      engine.connect(timeout);
      connected = true;
    } finally {
      if (!connected) {
        engine.close();
      }
    }
  }

  private static String clientId(RandomGenerator random) {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  /** This machine's name, looked up until it is found: the look-up may ask a name server. */
  private static final class HostName {
    private static volatile @Nullable String found;

    static String get() {
      String name = found;
      if (name == null) {
        try {
          name = InetAddress.getLocalHost().getHostName();
          found = name;
        } catch (UnknownHostException e) {
          // the name is for people only
          name = "unknown";
        }
      }
      return name;
    }
  }
}
