// SPDX-License-Identifier: Apache-2.0
/** The public record of what Holdfast survives: every store under every fault that can be injected into its server. */
@NullMarked
package io.holdfast.bench.record;

import org.jspecify.annotations.NullMarked;
