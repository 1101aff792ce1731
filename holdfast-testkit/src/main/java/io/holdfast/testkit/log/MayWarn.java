// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Announces warnings that Holdfast may give in a test, or in all tests of a class, and may leave out: where it depends on
 * the moment whether there is a reason for them.
 *
 * <pre>{@code
 * @Test
 * @MayWarn("hold lost: LEASE_ENDED")
 * void briefHold_isValidOrLost() { ... }
 * }</pre>
 *
 * @see Warnings
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface MayWarn {
  /**
   * What the warnings say.
   *
   * @return regular expressions; each is found in the message of a warning, its parameters filled in
   */
  String[] value();
}
