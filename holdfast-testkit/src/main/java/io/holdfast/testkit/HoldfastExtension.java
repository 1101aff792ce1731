// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Holdfast;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests of programs that use locks a {@link Holdfast} in memory, whose time stands still and whose store does what
 * the test says. It answers the question that is hard to ask otherwise: what does my code do when the hold is lost?
 *
 * <pre>{@code
 * @ExtendWith(HoldfastExtension.class)
 * class OrderServiceTest {
 *   @Test
 *   void save_afterTheHoldWasLost_isRefused(Holdfast holdfast, Faults faults) {
 *     OrderService service = new OrderService(holdfast);
 *     service.begin("42");
 *     faults.loseHold("order:42");
 *     assertThrows(HoldLostException.class, service::save);
 *   }
 * }
 * }</pre>
 *
 * <p>Parameters of these types are filled in, and belong to one test: {@link Holdfast}, the client of the code under
 * test; {@link ManualClock}, its time; {@link Faults}, its store's; {@link Rival}, somebody else on the same store.
 *
 * <p>Time stands still unless the test moves it, so a call that waits for time (a wait with a limit, any call on a silent
 * store) waits forever: make it within {@link ManualClock#whileTimePasses}. After each move of the clock and each loss
 * that the test asks for, the callbacks that follow from it have run when the call returns (unless one of them blocks).
 */
public final class HoldfastExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(HoldfastExtension.class);
  private static final Set<Class<?>> TYPES =
      Set.of(Holdfast.class, ManualClock.class, Faults.class, Rival.class);

  /** Made by JUnit. */
  public HoldfastExtension() {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return TYPES.contains(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    TestWorld world = context
        .getStore(NAMESPACE)
        .computeIfAbsent("world", key -> new TestWorld(), TestWorld.class);
    Class<?> type = parameter.getParameter().getType();
    if (type == ManualClock.class) {
      return world.clock;
    } else if (type == Faults.class) {
      return world.faults;
    } else if (type == Rival.class) {
      return world.rival;
    }
    return world.holdfast;
  }
}
