// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreEvents;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks that what a module exports refuses null with a {@link NullPointerException}. Each public constructor and method
 * of its exported types is called once per parameter, with null for that one. Left out are primitive and {@link Nullable}
 * parameters, {@code equals}, methods that are declared elsewhere than in Holdfast, and what the client calls itself: the
 * callers' code behind a {@link FunctionalInterface}, and the methods of {@link LockStore} and {@link StoreEvents}.
 *
 * <pre>{@code
 * new NullArguments()
 *     .with(EtcdSettings.class, EtcdSettings.defaults())
 *     .ofModule(EtcdStore.class)
 *     .areRefused(5);
 * }</pre>
 *
 * <p>The other arguments, and the objects whose methods are called, are what {@link #with} was given, else an object of a
 * public constructor, a constant of an enum, or for an interface an object that fails when it is used.
 */
public final class NullArguments {
  /** Types whose methods make the checks themselves, and what those call. */
  private static final Set<String> CHECKS = Set.of(
      "java.lang.Enum",
      "java.util.Objects",
      "java.util.Optional",
      "java.util.Set",
      "java.util.HashSet",
      "java.util.List",
      "java.util.ImmutableCollections");

  /** Types whose methods only the engine and the store call on each other, never with null. */
  private static final Set<Class<?>> BETWEEN_STORE_AND_ENGINE =
      Set.of(LockStore.class, StoreEvents.class);

  private final Map<Class<?>, Object> samples = new HashMap<>(Map.ofEntries(
      Map.entry(Object.class, "x"),
      Map.entry(String.class, "x"),
      Map.entry(Duration.class, Duration.ofSeconds(1)),
      Map.entry(Instant.class, Instant.EPOCH),
      Map.entry(Throwable.class, new IllegalStateException("x")),
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
   * Sets the object that is passed for parameters of a type, and whose methods are called if the module exports the type.
   *
   * @param type the type
   * @param sample an object of it
   * @param <T> the type
   * @return this
   */
  public <T> NullArguments with(Class<T> type, T sample) {
    samples.put(type, sample);
    return this;
  }

  /**
   * Tries all public types that a module exports to all; a type that is added later is tried without being named.
   *
   * @param type one of the module's types
   * @return this
   */
  public NullArguments ofModule(Class<?> type) {
    try {
      for (Class<?> each : exportedBy(type)) {
        tryAll(each);
      }
    } catch (IOException | URISyntaxException | ReflectiveOperationException e) {
      throw new LinkageError("the module of " + type, e);
    }
    return this;
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

  /** Tests run on the class path, where no type knows its module: the compiled one, a folder or a jar, is read. */
  private static List<Class<?>> exportedBy(Class<?> one)
      throws IOException, URISyntaxException, ClassNotFoundException {
    Path compiled =
        Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(compiled)) {
      return exportedIn(compiled, one.getClassLoader());
    }
    try (FileSystem jar = FileSystems.newFileSystem(compiled)) {
      return exportedIn(jar.getPath("/"), one.getClassLoader());
    }
  }

  private static List<Class<?>> exportedIn(Path root, ClassLoader loader)
      throws IOException, ClassNotFoundException {
    Predicate<String> exported = exportedPackages(root);
    List<Class<?>> types = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        String path =
            root.relativize(file).toString().replace(root.getFileSystem().getSeparator(), ".");
        String name = path.substring(0, path.length() - ".class".length());
        if (exported.test(name.substring(0, Math.max(0, name.lastIndexOf('.'))))) {
          types.add(Class.forName(name, false, loader));
        }
      }
    }
    types.removeIf(each -> !isPublic(each));
    return types;
  }

  /** The packages that are exported to all: each of them in a module that has no descriptor. */
  private static Predicate<String> exportedPackages(Path root) throws IOException {
    Path descriptor = root.resolve("module-info.class");
    if (!Files.exists(descriptor)) {
      return name -> true;
    }
    try (InputStream in = Files.newInputStream(descriptor)) {
      return ModuleDescriptor.read(in).exports().stream()
          .filter(each -> !each.isQualified())
          .map(ModuleDescriptor.Exports::source)
          .collect(Collectors.toSet())::contains;
    }
  }

  private static boolean isPublic(Class<?> type) {
    Class<?> outer = type.getDeclaringClass();
    return Modifier.isPublic(type.getModifiers()) && (outer == null || isPublic(outer));
  }

  private void tryAll(Class<?> type) throws ReflectiveOperationException {
    for (Constructor<?> each : type.getConstructors()) {
      tryEach(each, null);
    }
    for (Method each : type.getMethods()) {
      if (each.getDeclaringClass().getName().startsWith("io.holdfast")
          && !each.isSynthetic()
          && !each.getName().equals("equals")
          && !isCalledByTheClient(each)
          && !refusing(each).isEmpty()) {
        tryEach(each, Modifier.isStatic(each.getModifiers()) ? null : sample(type));
      }
    }
  }

  private void tryEach(Executable each, @Nullable Object instance) {
    for (int i : refusing(each)) {
      tryOne(each, instance, i);
    }
  }

  /** The parameters that are to refuse null. */
  private static List<Integer> refusing(Executable each) {
    return IntStream.range(0, each.getParameterCount())
        .filter(i -> !each.getParameterTypes()[i].isPrimitive())
        .filter(i -> !each.getAnnotatedParameterTypes()[i].isAnnotationPresent(Nullable.class))
        .boxed()
        .toList();
  }

  private static boolean isCalledByTheClient(Method method) {
    Class<?> type = method.getDeclaringClass();
    return (type.isAnnotationPresent(FunctionalInterface.class)
            && Modifier.isAbstract(method.getModifiers()))
        || BETWEEN_STORE_AND_ENGINE.stream()
            .filter(each -> each.isAssignableFrom(type))
            .flatMap(each -> Stream.of(each.getMethods()))
            .anyMatch(each -> each.getName().equals(method.getName())
                && Arrays.equals(each.getParameterTypes(), method.getParameterTypes()));
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
      return method.invoke(instance, arguments);
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
