// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads the text of an answer whose head has come, for a limited time: the JDK's client looks at the time until the head
 * only, and who waits for it would wait for ever for an agent that stops in the middle.
 */
final class ConsulBody implements BodySubscriber<String> {
  private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
  private final CompletableFuture<Subscription> source = new CompletableFuture<>();
  private final CompletionStage<String> body;

  ConsulBody(Duration most) {
    body = text.getBody()
        .toCompletableFuture()
        .copy()
        .orTimeout(most.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(failure -> {
          if (!(ConsulErrors.unwrap(failure) instanceof TimeoutException)) {
            return CompletableFuture.failedFuture(failure);
          }
          CompletionStage<Subscription> open = source;
          // closes the connection
          open.thenAccept(Subscription::cancel);
          return CompletableFuture.failedFuture(
              new HttpTimeoutException("the answer was not read in time"));
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
