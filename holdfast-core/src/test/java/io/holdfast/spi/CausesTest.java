// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class CausesTest {
  private final IOException root = new IOException("connection refused");
  private final IOException between = new IOException("no connection", root);
  private final RuntimeException outer = new RuntimeException("no lock", between);

  @Test
  void causes_areFoundInTheirOrder() {
    assertThat(Causes.of(outer)).containsExactly(outer, between, root);
    assertThat(Causes.root(outer)).isSameAs(root);
    assertThat(Causes.root(root)).isSameAs(root);
    assertThat(Causes.find(IOException.class, outer)).containsSame(between);
    assertThat(Causes.find(RuntimeException.class, outer)).containsSame(outer);
    assertThat(Causes.find(Error.class, outer)).isEmpty();
  }

  @Test
  void causesThatFormACycle_comeToAnEnd() {
    root.initCause(outer);
    assertThat(Causes.of(outer)).hasSize(20).startsWith(outer, between, root, outer);
    assertThat(Causes.find(Error.class, outer)).isEmpty();
  }
}
