// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.memory.MemoryStore;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Null is refused at the call, wherever a program hands over an object: no null means "no limit", or "the default". */
class NullArgumentsTest {
  private static final Map<Class<?>, Object> SAMPLES = Map.ofEntries(
      Map.entry(String.class, "x"),
      Map.entry(Duration.class, Duration.ofSeconds(1)),
      Map.entry(Optional.class, Optional.empty()),
      Map.entry(TimeUnit.class, TimeUnit.SECONDS),
      Map.entry(Set.class, Set.of()),
      Map.entry(List.class, List.of()),
      Map.entry(LockOptions.class, LockOptions.defaults()),
      Map.entry(OnLost.class, LockOptions.defaults().onLost()),
      Map.entry(long.class, 1L),
      Map.entry(int.class, 1),
      Map.entry(boolean.class, true));

  private final List<String> taken = new ArrayList<>();
  private int tried;

  @Test
  void null_isRefused() throws Exception {
    try (Holdfast holdfast = Holdfast.builder().store(new MemoryStore()).build()) {
      DistributedLock lock = holdfast.lock("x");
      try (Hold hold = lock.acquire()) {
        Map<Class<?>, Object> instances = new HashMap<>();
        instances.put(Holdfast.class, holdfast);
        instances.put(Holdfast.Builder.class, Holdfast.builder());
        instances.put(DistributedLock.class, lock);
        instances.put(JavaLock.class, lock.asJavaLock());
        instances.put(Hold.class, hold);
        instances.put(LockAdmin.class, holdfast.admin());
        instances.put(LockOptions.class, LockOptions.defaults());
        instances.put(LockOptions.Builder.class, LockOptions.builder());
        instances.put(LockInfo.class, sample(LockInfo.class));
        instances.put(Holder.class, sample(Holder.class));
        instances.put(Guarantees.class, sample(Guarantees.class));
        for (Map.Entry<Class<?>, Object> entry : instances.entrySet()) {
          tryAll(entry.getKey(), entry.getValue());
        }
      }
    }
    assertThat(tried).isGreaterThan(40);
    assertThat(taken).isEmpty();
  }

  private void tryAll(Class<?> type, Object instance) throws Exception {
    List<Executable> all = new ArrayList<>(List.of(type.getConstructors()));
    Stream.of(type.getMethods())
        .filter(method -> method.getDeclaringClass().getName().startsWith("io.holdfast"))
        .filter(method -> !method.isSynthetic() && !method.getName().equals("equals"))
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
  }

  private void tryOne(Executable each, Object instance, int at) throws Exception {
    tried++;
    @Nullable Object[] arguments = samples(each, at);
    @Nullable Throwable thrown = null;
    try {
      invoke(each, instance, arguments);
    } catch (ReflectiveOperationException e) {
      thrown = e.getCause();
    }
    if (!(thrown instanceof NullPointerException)) {
      taken.add(each + ", argument " + at + ": " + thrown);
    }
  }

  private static @Nullable Object invoke(
      Executable each, Object instance, @Nullable Object[] arguments)
      throws ReflectiveOperationException {
    if (each instanceof Method method) {
      boolean isStatic = Modifier.isStatic(method.getModifiers());
      return method.invoke(isStatic ? null : instance, arguments);
    }
    return ((Constructor<?>) each).newInstance(arguments);
  }

  private static @Nullable Object[] samples(Executable each, int but) throws Exception {
    Class<?>[] types = each.getParameterTypes();
    @Nullable Object[] samples = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      samples[i] = i == but ? null : sample(types[i]);
    }
    return samples;
  }

  private static Object sample(Class<?> type) throws Exception {
    Object sample = SAMPLES.get(type);
    if (sample != null) {
      return sample;
    }
    assertThat(type.getConstructors()).as("no sample of " + type).isNotEmpty();
    var constructor = type.getConstructors()[0];
    return constructor.newInstance(samples(constructor, -1));
  }
}
