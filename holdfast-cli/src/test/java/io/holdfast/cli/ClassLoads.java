// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** A program that loads what the command needs on some stores, so that the JVM can put it into an archive. */
final class ClassLoads {
  private ClassLoads() {}

  /** The arguments are the stores' addresses. It ends as the command on the last one does. */
  public static void main(String[] arguments) {
    int code = 0;
    for (String store : arguments) {
      code = Main.run("run", "--no-wait", "--store", store, "l", "true");
    }
    System.exit(code);
  }
}
