// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

/** Keeps the package from being empty until its first type arrives. */
final class Skeleton {
  private Skeleton() {}
}
