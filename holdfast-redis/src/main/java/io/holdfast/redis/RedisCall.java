// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.internal.ExceptionFactory;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CompleteableCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call of a script on one connection. It is written as it is, and answers straight to whoever waits for it: what the
 * driver does for commands in general (an object for each argument, a future and its time-out for each command) costs
 * more than the call.
 */
final class RedisCall extends Command<byte[], byte[], List<Object>>
    implements CompleteableCommand<List<Object>> {
  private static final byte[] END = {'\r', '\n'};

  private final String script;
  private final byte[][] of;
  private final byte[][] arguments;
  private final Reply reply;
  private final AtomicBoolean done = new AtomicBoolean();

  /** The driver's own, if it is an application's client that times its commands: it takes back the timer. */
  private volatile @Nullable BiConsumer<? super List<Object>, Throwable> completed;

  /** Hears the answer, once, on the driver's thread or on the one that closes the connection. */
  @FunctionalInterface
  interface Reply {
    /** Exactly one of the two is null. */
    void done(@Nullable List<Object> answer, @Nullable Throwable failure);
  }

  private RedisCall(CommandType type, String script, byte[][] of, byte[][] arguments, Reply reply) {
    super(type, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE));
    this.script = script;
    this.of = of;
    this.arguments = arguments;
    this.reply = reply;
  }

  /** A call of a script that the server may know. */
  static RedisCall named(RedisScript script, byte[][] of, byte[][] arguments, Reply reply) {
    return new RedisCall(CommandType.EVALSHA, script.sha(), of, arguments, reply);
  }

  /** A call that brings the script along. */
  static RedisCall whole(RedisScript script, byte[][] of, byte[][] arguments, Reply reply) {
    return new RedisCall(CommandType.EVAL, script.text(), of, arguments, reply);
  }

  /** Sends it. */
  void on(StatefulRedisConnection<byte[], byte[]> connection) {
    // it is this very call
    var unused = connection.dispatch(this);
  }

  @Override
  public void encode(ByteBuf out) {
    number(out, '*', 3 + of.length + arguments.length);
    part(out, getType().getBytes());
    number(out, '$', ByteBufUtil.utf8Bytes(script));
    out.writeCharSequence(script, StandardCharsets.UTF_8);
    out.writeBytes(END);
    part(out, RedisAnswer.argument(of.length));
    for (byte[] key : of) {
      part(out, key);
    }
    for (byte[] argument : arguments) {
      part(out, argument);
    }
  }

  private static void part(ByteBuf out, byte[] bytes) {
    number(out, '$', bytes.length);
    out.writeBytes(bytes);
    out.writeBytes(END);
  }

  private static void number(ByteBuf out, char kind, int number) {
    out.writeByte(kind);
    if (number < 10) {
      out.writeByte('0' + number);
    } else if (number < 100) {
      out.writeByte('0' + number / 10);
      out.writeByte('0' + number % 10);
    } else {
      out.writeBytes(RedisAnswer.argument(number));
    }
    out.writeBytes(END);
  }

  @Override
  public void complete() {
    super.complete();
    String error = getError();
    if (error != null) {
      settle(null, ExceptionFactory.createExecutionException(error));
    } else {
      settle(get(), null);
    }
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    boolean first = super.completeExceptionally(failure);
    settle(null, failure);
    return first;
  }

  @Override
  public void cancel() {
    super.cancel();
    settle(null, new CancellationException("the connection was closed"));
  }

  private void settle(@Nullable List<Object> answer, @Nullable Throwable failure) {
    if (done.compareAndSet(false, true)) {
      BiConsumer<? super List<Object>, Throwable> listener = completed;
      if (listener != null) {
        listener.accept(answer, failure);
      }
      if (answer == null && failure == null) {
        reply.done(null, new IllegalStateException("an empty answer"));
      } else {
        reply.done(answer, failure);
      }
    }
  }

  @Override
  public void onComplete(Consumer<? super List<Object>> action) {
    onComplete((answer, failure) -> action.accept(answer));
  }

  @Override
  public void onComplete(BiConsumer<? super List<Object>, Throwable> action) {
    // before it is written, by the thread that writes it
    completed = action;
    if (done.get()) {
      action.accept(get(), exception);
    }
  }
}
