// SPDX-License-Identifier: Apache-2.0
/** Programs that use Holdfast. */
module io.holdfast.examples {
  requires static org.jspecify;
  requires io.holdfast.core;
  requires io.holdfast.jdbc;
  requires java.sql;
}
