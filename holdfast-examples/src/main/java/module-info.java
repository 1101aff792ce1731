// SPDX-License-Identifier: Apache-2.0
/** Programs that use Holdfast. */
module io.holdfast.examples {
  requires static org.jspecify;
  requires io.holdfast.core;
  requires io.holdfast.jdbc;
  requires java.sql;
  requires static spring.beans;
  requires static spring.context;

  // for Spring, which makes the beans of a configuration by reflection
  opens io.holdfast.examples;
}
