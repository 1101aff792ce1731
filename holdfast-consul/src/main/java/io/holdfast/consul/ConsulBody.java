// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

/**
 * Reads the text of an answer whose head has come, until its time is up: the JDK's client looks at the time until the head
 * only, and who waits for it would wait for ever for an agent that stops in the middle.
 */
final class ConsulBody implements BodySubscriber<String> {
  private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
  private final CompletableFuture<Subscription> source = new CompletableFuture<>();
  private final CompletableFuture<String> body =
      text.getBody().toCompletableFuture().copy();

  /** Makes one that is given up when the stage completes. */
  ConsulBody(CompletionStage<?> due) {
    due.thenAccept(over -> {
      HttpTimeoutException late = new HttpTimeoutException("the answer was not read in time");
      if (body.completeExceptionally(late)) {
        CompletionStage<Subscription> open = source;
        // closes the connection
        open.thenAccept(Subscription::cancel);
      }
    });
  }

  @Override
  public CompletionStage<String> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    source.complete(subscription);
    text.onSubscribe(subscription);
  }

  @Override
  public void onNext(List<ByteBuffer> item) {
    text.onNext(item);
  }

  @Override
  public void onError(Throwable failure) {
    text.onError(failure);
  }

  @Override
  public void onComplete() {
    text.onComplete();
  }
}
