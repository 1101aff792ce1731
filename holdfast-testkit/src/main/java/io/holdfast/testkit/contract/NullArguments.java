// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks that public constructors and methods refuse null with a {@link NullPointerException}. Each is called once per
 * parameter, with null for that one. Left out are primitive and {@link Nullable} parameters, {@code equals}, methods that
 * are declared elsewhere than in Holdfast, and those of {@link LockStore} and {@link LockStoreFactory}, which the client
 * calls.
 *
 * <pre>{@code
 * new NullArguments().of(LockOptions.Builder.class, LockOptions.builder()).areRefused(5);
 * }</pre>
 *
 * <p>The other arguments are what {@link #with} was given, else an object of a public constructor, a constant of an enum,
 * or for an interface an object that fails when it is used.
 */
public final class NullArguments {
  /** What is checked with, {@code copyOf} among it, and what that calls. */
  private static final Set<String> CHECKS = Set.of(
      "java.util.Objects",
      "java.util.Optional",
      "java.util.Set",
      "java.util.HashSet",
      "java.util.List",
      "java.util.ImmutableCollections");

  private final Map<Class<?>, Object> samples = new HashMap<>(Map.ofEntries(
      Map.entry(Object.class, "x"),
      Map.entry(String.class, "x"),
      Map.entry(Duration.class, Duration.ofSeconds(1)),
      Map.entry(Optional.class, Optional.empty()),
      Map.entry(Set.class, Set.of()),
      Map.entry(List.class, List.of()),
      Map.entry(byte[].class, new byte[1]),
      Map.entry(long.class, 1L),
      Map.entry(int.class, 1),
      Map.entry(double.class, 0.5),
      Map.entry(boolean.class, true)));

  private final List<String> accepted = new ArrayList<>();
  private int tried;

  /** Makes a check with samples of common types. */
  public NullArguments() {}

  /**
   * Sets the value that is passed for parameters of a type.
   *
   * @param type the parameter's type
   * @param sample an object of it
   * @param <T> the parameter's type
   * @return this
   */
  public <T> NullArguments with(Class<T> type, T sample) {
    samples.put(type, sample);
    return this;
  }

  /**
   * Tries the constructors and the static methods of a class.
   *
   * @param type the class
   * @return this
   */
  public NullArguments of(Class<?> type) {
    return tryAll(type, null);
  }

  /**
   * Tries the public constructors and all public methods of a class.
   *
   * @param type the class
   * @param instance whose methods are called
   * @param <T> the class
   * @return this
   */
  public <T> NullArguments of(Class<T> type, T instance) {
    return tryAll(type, instance);
  }

  /**
   * Fails if a call did not throw {@link NullPointerException}, or too few were made.
   *
   * @param atLeast the fewest calls that are expected
   * @throws AssertionError if so
   */
  public void areRefused(int atLeast) {
    assertEquals(List.of(), accepted);
    assertTrue(tried >= atLeast, () -> "only " + tried + " were tried");
  }

  private NullArguments tryAll(Class<?> type, @Nullable Object instance) {
    List<Executable> all = new ArrayList<>(List.of(type.getConstructors()));
    Stream.of(type.getMethods())
        .filter(method -> method.getDeclaringClass().getName().startsWith("io.holdfast"))
        .filter(method -> instance != null || Modifier.isStatic(method.getModifiers()))
        .filter(method -> !method.isSynthetic() && !method.getName().equals("equals"))
        .filter(method -> !isOf(LockStore.class, method) && !isOf(LockStoreFactory.class, method))
        .forEach(all::add);
    for (Executable each : all) {
      for (int i = 0; i < each.getParameterCount(); i++) {
        boolean mayBeNull =
            each.getAnnotatedParameterTypes()[i].isAnnotationPresent(Nullable.class);
        if (!each.getParameterTypes()[i].isPrimitive() && !mayBeNull) {
          tryOne(each, instance, i);
        }
      }
    }
    return this;
  }

  private static boolean isOf(Class<?> type, Method method) {
    return type.isAssignableFrom(method.getDeclaringClass())
        && Stream.of(type.getMethods())
            .anyMatch(each -> each.getName().equals(method.getName())
                && List.of(each.getParameterTypes()).equals(List.of(method.getParameterTypes())));
  }

  private void tryOne(Executable each, @Nullable Object instance, int at) {
    tried++;
    @Nullable Throwable thrown = null;
    try {
      invoke(each, instance, samples(each, at));
    } catch (InvocationTargetException e) {
      thrown = e.getCause();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(each.toString(), e);
    }
    if (!(thrown instanceof NullPointerException refused) || !isRefusal(refused)) {
      accepted.add(each + ", argument " + at + ": " + thrown);
    }
  }

  /** Whether one of {@link #CHECKS} threw it for a method of ours; not a use of the null, which may be after an effect. */
  private static boolean isRefusal(NullPointerException thrown) {
    StackTraceElement[] trace = thrown.getStackTrace();
    int checks = 0;
    while (checks < trace.length && CHECKS.contains(trace[checks].getClassName())) {
      checks++;
    }
    return checks > 0
        && checks < trace.length
        && trace[checks].getClassName().startsWith("io.holdfast");
  }

  private static @Nullable Object invoke(
      Executable each, @Nullable Object instance, @Nullable Object[] arguments)
      throws ReflectiveOperationException {
    if (each instanceof Method method) {
      return method.invoke(Modifier.isStatic(method.getModifiers()) ? null : instance, arguments);
    }
    return ((Constructor<?>) each).newInstance(arguments);
  }

  private @Nullable Object[] samples(Executable each, int nullAt)
      throws ReflectiveOperationException {
    Class<?>[] types = each.getParameterTypes();
    @Nullable Object[] all = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      all[i] = i == nullAt ? null : sample(types[i]);
    }
    return all;
  }

  private Object sample(Class<?> type) throws ReflectiveOperationException {
    Object sample = samples.get(type);
    if (sample != null) {
      return sample;
    }
    if (type.isInterface()) {
      return Proxy.newProxyInstance(
          type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            throw new UnsupportedOperationException(method.toString());
          });
    }
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    assertTrue(type.getConstructors().length > 0, () -> "no sample of " + type);
    Constructor<?> constructor = type.getConstructors()[0];
    return constructor.newInstance(samples(constructor, -1));
  }
}
