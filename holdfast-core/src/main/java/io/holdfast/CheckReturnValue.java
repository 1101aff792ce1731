// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The result of the annotated method must be used: an acquired hold that is dropped is a lock that stays taken until
 * the garbage collector finds it. Static analysers (Error Prone, SpotBugs, IntelliJ IDEA) know annotations of this name.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CheckReturnValue {}
