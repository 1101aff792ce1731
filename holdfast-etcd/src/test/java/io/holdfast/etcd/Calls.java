// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Stands between a client and the server: parks requests, refuses them, loses or changes their answers, and counts. */
final class Calls implements ClientInterceptor {
  private final Map<String, AtomicInteger> sent = new ConcurrentHashMap<>();
  private final AtomicInteger watches = new AtomicInteger();
  private final Queue<String> texts = new ConcurrentLinkedQueue<>();

  // guarded by this

  private final List<Rule> rules = new ArrayList<>();

  private interface Act {
    <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call);
  }

  private static final class Rule {
    final String method;
    final Act act;
    int skip;

    Rule(String method, int skip, Act act) {
      this.method = method;
      this.skip = skip;
      this.act = act;
    }
  }

  private synchronized void rule(String method, int skip, Act act) {
    rules.add(new Rule(method, skip, act));
  }

  private synchronized @Nullable Act act(String method) {
    for (Rule each : rules) {
      if (each.method.equals(method)) {
        if (each.skip-- > 0) {
          return null;
        }
        rules.remove(each);
        return each.act;
      }
    }
    return null;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    String name = String.valueOf(method.getBareMethodName());
    sent.computeIfAbsent(name, each -> new AtomicInteger()).incrementAndGet();
    ClientCall<Q, A> call = new Noted<>(next.newCall(method, options), texts);
    if (name.equals("Watch")) {
      watches.incrementAndGet();
      call = new Counted<>(call, watches);
    }
    Act act = act(name);
    return act == null ? call : act.on(method, call);
  }

  int sent(String method) {
    AtomicInteger count = sent.get(method);
    return count == null ? 0 : count.get();
  }

  /** The text of each request so far, oldest first. */
  List<String> texts() {
    return List.copyOf(texts);
  }

  int openWatches() {
    return watches.get();
  }

  /** Parks a request, after some others of its kind; completes when it is there. */
  CompletableFuture<Parked> park(String method, int after) {
    CompletableFuture<Parked> there = new CompletableFuture<>();
    rule(method, after, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        Parked parked = new Parked();
        there.complete(parked);
        return new LateRequest<>(call, parked);
      }
    });
    return there;
  }

  /**
   * Parks the answer to a request, after some others of its kind; completes when the answer is there.
   *
   * @param before runs before the request is sent
   */
  CompletableFuture<Parked> parkAnswer(String method, int after, Runnable before) {
    CompletableFuture<Parked> there = new CompletableFuture<>();
    rule(method, after, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        before.run();
        Parked parked = new Parked();
        return new LateAnswer<>(call, parked, () -> there.complete(parked));
      }
    });
    return there;
  }

  /** Runs something while the next request of a kind is being begun. */
  void during(String method, Runnable task) {
    rule(method, 0, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        task.run();
        return call;
      }
    });
  }

  /** Refuses the next request of a kind: the server does not get it. */
  void refuse(String method, Status status) {
    refuse(method, 0, status);
  }

  /** Refuses a request, after some others of its kind. */
  void refuse(String method, int after, Status status) {
    rule(method, after, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        return new Refused<>(status);
      }
    });
  }

  /** Loses the answer of a request, after some others of its kind. */
  void lose(String method, int after) {
    lose(method, after, Status.UNAVAILABLE.withDescription("the connection broke"));
  }

  /** The same, and says why. */
  void lose(String method, int after, Status why) {
    rule(method, after, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        return new Changed<>(call, answer -> null, why);
      }
    });
  }

  /** Adds fields to the answer of the next request of a kind, unless it says something: of two the later one counts. */
  void change(String name, String unless, byte[] fields) {
    rule(name, 0, new Act() {
      @Override
      public <Q, A> ClientCall<Q, A> on(MethodDescriptor<Q, A> method, ClientCall<Q, A> call) {
        return new Changed<>(
            call,
            answer -> answer.toString().contains(unless)
                ? answer
                : method.parseResponse(new SequenceInputStream(
                    method.streamResponse(answer), new ByteArrayInputStream(fields))),
            Status.OK);
      }
    });
  }

  private interface Change<A> {
    @Nullable
    A apply(A answer);
  }

  /** A request that waits to be let go, or the answer to one. */
  static final class Parked {
    private final CompletableFuture<Boolean> answered = new CompletableFuture<>();

    // guarded by this

    private final List<Runnable> steps = new ArrayList<>();
    private boolean isLetGo;

    private Parked() {}

    private synchronized void step(Runnable step) {
      if (isLetGo) {
        step.run();
      } else {
        steps.add(step);
      }
    }

    /** Lets it go; completes when the client has the answer. */
    synchronized CompletableFuture<Boolean> letGo() {
      isLetGo = true;
      steps.forEach(Runnable::run);
      return answered;
    }
  }

  private static final class LateRequest<Q, A> extends ClientCall<Q, A> {
    private final ClientCall<Q, A> call;
    private final Parked parked;

    LateRequest(ClientCall<Q, A> call, Parked parked) {
      this.call = call;
      this.parked = parked;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      Listener<A> told = new SimpleForwardingClientCallListener<>(listener) {
        @Override
        public void onClose(Status status, Metadata trailers) {
          super.onClose(status, trailers);
          parked.answered.complete(true);
        }
      };
      parked.step(() -> call.start(told, headers));
    }

    @Override
    public void request(int messages) {
      parked.step(() -> call.request(messages));
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      parked.step(() -> call.cancel(message, cause));
    }

    @Override
    public void halfClose() {
      parked.step(call::halfClose);
    }

    @Override
    public void sendMessage(Q message) {
      parked.step(() -> call.sendMessage(message));
    }
  }

  private static final class LateAnswer<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final Parked parked;
    private final Runnable whenThere;

    LateAnswer(ClientCall<Q, A> call, Parked parked, Runnable whenThere) {
      super(call);
      this.parked = parked;
      this.whenThere = whenThere;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      Listener<A> told = new SimpleForwardingClientCallListener<>(listener) {
        @Override
        public void onMessage(A message) {
          parked.step(() -> super.onMessage(message));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
          parked.step(() -> {
            super.onClose(status, trailers);
            parked.answered.complete(true);
          });
          whenThere.run();
        }
      };
      super.start(told, headers);
    }
  }

  private static final class Refused<Q, A> extends ClientCall<Q, A> {
    private final Status status;

    Refused(Status status) {
      this.status = status;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      listener.onClose(status, new Metadata());
    }

    @Override
    public void request(int messages) {}

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {}

    @Override
    public void halfClose() {}

    @Override
    public void sendMessage(Q message) {}
  }

  private static final class Changed<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final Change<A> change;
    private final Status whenLost;

    Changed(ClientCall<Q, A> call, Change<A> change, Status whenLost) {
      super(call);
      this.change = change;
      this.whenLost = whenLost;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      Listener<A> told = new SimpleForwardingClientCallListener<>(listener) {
        private boolean lost;

        @Override
        public void onMessage(A message) {
          A changed = change.apply(message);
          if (changed == null) {
            lost = true;
          } else {
            super.onMessage(changed);
          }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
          super.onClose(lost ? whenLost : status, trailers);
        }
      };
      super.start(told, headers);
    }
  }

  private static final class Noted<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final Queue<String> texts;

    Noted(ClientCall<Q, A> call, Queue<String> texts) {
      super(call);
      this.texts = texts;
    }

    @Override
    public void sendMessage(Q message) {
      texts.add(message.toString());
      super.sendMessage(message);
    }
  }

  private static final class Counted<Q, A> extends SimpleForwardingClientCall<Q, A> {
    private final AtomicInteger open;
    private final AtomicBoolean over = new AtomicBoolean();

    Counted(ClientCall<Q, A> call, AtomicInteger open) {
      super(call);
      this.open = open;
    }

    private void over() {
      if (over.compareAndSet(false, true)) {
        open.decrementAndGet();
      }
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      Listener<A> told = new SimpleForwardingClientCallListener<>(listener) {
        @Override
        public void onClose(Status status, Metadata trailers) {
          over();
          super.onClose(status, trailers);
        }
      };
      super.start(told, headers);
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      over();
      super.cancel(message, cause);
    }
  }
}
