// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/**
 * What every store must do: all suites of the contract, on a store of its own for each test.
 *
 * <pre>{@code
 * class MyStoreContractTest extends StoreContract {
 *   MyStoreContractTest() {
 *     super("mystore", MyStoreUnderTest::new);
 *   }
 * }
 * }</pre>
 *
 * <p>A suite is skipped if it needs a {@link Capability} that the store does not declare. All are skipped, and the printed
 * matrix says why, if no store can be made: its constructor throws {@link TestAbortedException}, as {@link
 * io.holdfast.testkit.process.ServerProcess#of} does without the server's program.
 *
 * <p>Where JUnit is told to run tests in parallel, they run side by side, apart from the suites that stop the server. So locks of
 * other tests may be in the store, under names of their own.
 *
 * <p>{@code -Dholdfast.contract=Names} runs one suite, {@code -Dholdfast.contract=Names.test} one test of it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class StoreContract {
  /**
   * What tests share, the server and this JVM, as JUnit's {@code @ResourceLock} names it: all suites read it, and one that stops
   * the server, or counts the JVM's threads, has it alone. Other classes that run beside a contract read it, too.
   */
  public static final String SHARED = "io.holdfast.testkit.contract.shared";

  private final String kind;
  private final Supplier<? extends StoreUnderTest> maker;
  private @Nullable Access access;
  private @Nullable Throwable failure;

  /** Whether stores can be made here: what they declare, or why there are none. */
  record Access(Set<Capability> capabilities, Optional<String> obstacle) {}

  /** The suite is for stores with this capability. */
  @Retention(RetentionPolicy.RUNTIME)
  @interface Requires {
    Capability value();
  }

  /**
   * Makes the contract of one store.
   *
   * @param kind the kind of store, as the matrix shows it; for example {@code sqlite}. No other contract of the same module
   *     has it
   * @param maker makes a fresh instance of the store, with nothing of former tests in it: for each test, and once to ask what it declares. It throws
   *     {@link TestAbortedException} with the reason if there can be none on this machine; if it throws anything else, all
   *     tests fail
   */
  protected StoreContract(String kind, Supplier<? extends StoreUnderTest> maker) {
    this.kind = kind;
    this.maker = maker;
  }

  final String kind() {
    return kind;
  }

  final StoreUnderTest newStore() {
    return maker.get();
  }

  /** Asks a store of its own, once. */
  final synchronized Access access() {
    if (failure != null) {
      throw new AssertionError("no store could be made", failure);
    }
    Access known = access;
    if (known == null) {
      try (StoreUnderTest store = newStore()) {
        known = new Access(Set.copyOf(store.capabilities()), Optional.empty());
      } catch (TestAbortedException e) {
        known = new Access(Set.of(), Optional.of(String.valueOf(e.getMessage())));
      } catch (RuntimeException | Error e) {
        failure = e;
        throw e;
      }
      access = known;
    }
    return known;
  }

  @Nested
  class Exclusion extends ExclusionContract {}

  @Nested
  class Names extends NamesContract {}

  @Nested
  class Token extends TokenContract {}

  @Nested
  class Lease extends LeaseContract {}

  @Nested
  class Loss extends LossContract {}

  @Nested
  class Waiting extends WaitingContract {}

  @Nested
  class Interrupt extends InterruptContract {}

  @Nested
  class Async extends AsyncContract {}

  @Nested
  class AbandonedHold extends AbandonedHoldContract {}

  @Nested
  class Outage extends OutageContract {}

  @Nested
  class Closing extends ClosingContract {}

  @Nested
  class Threads extends ThreadsContract {}

  @Nested
  class HandOver extends HandOverContract {}

  @Nested
  class HoldAtLeast extends HoldAtLeastContract {}

  @Nested
  class Work extends WorkContract {}

  @Nested
  class JavaLock extends JavaLockContract {}

  @Nested
  class Listener extends ListenerContract {}

  @Nested
  class Admin extends AdminContract {}

  @Nested
  class BadInput extends BadInputContract {}

  @Nested
  class Declarations extends DeclarationsContract {}

  @Nested
  @Requires(Capability.FAIR)
  class Fairness extends FairnessContract {}

  @Nested
  @Requires(Capability.RESTART)
  class Restart extends RestartContract {}

  @Nested
  @Requires(Capability.STALL)
  class Stall extends StallContract {}

  @Nested
  @Requires(Capability.PROCESSES)
  class Processes extends ProcessContract {}
}
