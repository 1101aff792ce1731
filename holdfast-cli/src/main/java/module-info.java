// SPDX-License-Identifier: Apache-2.0
/** The command <code>holdfast</code>. */
module io.holdfast.cli {
  requires static org.jspecify;
  requires io.holdfast.core;
  requires io.holdfast.measure;
  requires io.holdfast.verify;
  requires info.picocli;
  // sun.misc.Signal, by reflection: see Signals.
  requires jdk.unsupported;

  opens io.holdfast.cli to
      info.picocli;

  provides System.LoggerFinder with
      io.holdfast.cli.StderrLoggers;
}
