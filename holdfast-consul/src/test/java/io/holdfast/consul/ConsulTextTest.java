// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.junit.jupiter.api.Test;

/** What is read of an answer whose connection breaks behind its last byte, or before. */
class ConsulTextTest {
  private static final String SAID = "Client sent an HTTP request to an HTTPS server.\n";

  private static CompletionStage<String> broken(int status) {
    ConsulText text = new ConsulText(status);
    text.onSubscribe(new Subscription() {
      @Override
      public void request(long items) {}

      @Override
      public void cancel() {}
    });
    text.onNext(List.of(ByteBuffer.wrap(SAID.getBytes(StandardCharsets.UTF_8))));
    text.onError(new IOException("Connection reset"));
    return text.getBody();
  }

  @Test
  void badRequest_countsAsFarAsItCame() {
    assertThat(Await.value(broken(400))).isEqualTo(SAID);
  }

  /** What was done may be written in what did not come. */
  @Test
  void otherAnswers_areLost() {
    assertThat(Await.failure(broken(200))).hasMessage("Connection reset");
    assertThat(Await.failure(broken(500))).hasMessage("Connection reset");
  }
}
