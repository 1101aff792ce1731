// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * Handles signals with {@code sun.misc.Signal}, which the module {@code jdk.unsupported} keeps for want of a successor:
 * shutdown hooks do not say which signal came, cannot be told to go on, and know nothing of SIGTSTP and SIGCONT. By
 * reflection, because a compiler that treats warnings as errors refuses the name.
 *
 * <p>A signal that was ignored when we began (nohup) stays ignored.
 */
final class Signals {
  private Signals() {}

  /**
   * Has a signal handled from now on, on a thread of its own.
   *
   * @param signal which
   * @param handler told each time
   */
  static void handle(Sig signal, Consumer<Sig> handler) {
    InvocationHandler invocation = (proxy, method, arguments) -> {
      if (method.getName().equals("handle")) {
        handler.accept(signal);
      }
      return null;
    };
    try {
      Class<?> type = Class.forName("sun.misc.SignalHandler");
      set(
          signal,
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(), new Class<?>[] {type}, invocation));
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("no signals on this JVM", e);
    }
  }

  /** Has a signal do again what it does to any program. */
  static void restore(Sig signal) {
    try {
      set(signal, Class.forName("sun.misc.SignalHandler").getField("SIG_DFL").get(null));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no signals on this JVM", e);
    }
  }

  private static void set(Sig signal, Object handler) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object which = signalType.getConstructor(String.class).newInstance(signal.name());
      Method handle = signalType.getMethod("handle", signalType, handlerType);
      handle.invoke(null, which, handler);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("cannot handle SIG" + signal, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no signals on this JVM", e);
    }
  }
}
