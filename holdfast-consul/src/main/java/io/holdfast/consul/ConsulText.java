// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

/**
 * Reads the text of an answer. What a server says of a request that it cannot read counts as far as it came: it hangs up behind
 * that, and what it had not read of the request by then breaks the connection.
 */
final class ConsulText implements BodySubscriber<String> {
  private static final int BAD_REQUEST = 400;

  private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
  private final int status;

  /** Makes one for an answer with this status. */
  ConsulText(int status) {
    this.status = status;
  }

  @Override
  public CompletionStage<String> getBody() {
    return text.getBody();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    text.onSubscribe(subscription);
  }

  @Override
  public void onNext(List<ByteBuffer> item) {
    text.onNext(item);
  }

  @Override
  public void onError(Throwable failure) {
    if (status == BAD_REQUEST) {
      text.onComplete();
    } else {
      text.onError(failure);
    }
  }

  @Override
  public void onComplete() {
    text.onComplete();
  }
}
