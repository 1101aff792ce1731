// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RespFrames.Frame;
import java.util.concurrent.CompletableFuture;

/** One request or message that a {@link RespProxy} is to mistreat. */
final class Catch {
  final String what;
  final Fate fate;
  final String error;
  final CompletableFuture<Frame> caught = new CompletableFuture<>();
  final CompletableFuture<Frame> answered = new CompletableFuture<>();
  final CompletableFuture<Boolean> goes = new CompletableFuture<>();

  Catch(String what, Fate fate, String error) {
    this.what = what;
    this.fate = fate;
    this.error = error;
  }

  /** Completes when it has come by, with the request or the message. */
  CompletableFuture<Frame> caught() {
    return caught;
  }

  /** Completes with the server's reply to the request, or to its second copy; whoever gets it. */
  CompletableFuture<Frame> answered() {
    return answered;
  }

  /** Lets go what waits. */
  void letGo() {
    goes.complete(true);
  }
}
