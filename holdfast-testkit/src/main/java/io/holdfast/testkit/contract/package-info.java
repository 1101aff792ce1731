// SPDX-License-Identifier: Apache-2.0
/**
 * The contract that every store is held to: abstract suites, one per promise or part of the API, to be run on a {@link
 * io.holdfast.testkit.contract.StoreUnderTest}. Start from {@link io.holdfast.testkit.contract.StoreContract}.
 */
@NullMarked
package io.holdfast.testkit.contract;

import org.jspecify.annotations.NullMarked;
