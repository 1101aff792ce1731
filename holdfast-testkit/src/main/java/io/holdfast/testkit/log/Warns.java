// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Announces warnings that Holdfast gives in a test: each of them has to come before the test ends, or the test fails.
 *
 * <pre>{@code
 * @Test
 * @Warns("a callback failed")
 * void listenerThatThrows_isCounted() { ... }
 * }</pre>
 *
 * @see Warnings
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Warns {
  /**
   * What the warnings say.
   *
   * @return regular expressions; each is found in the message of a warning, its parameters filled in
   */
  String[] value();
}
