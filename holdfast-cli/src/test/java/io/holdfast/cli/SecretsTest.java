// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.HoldfastException;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is typed as a password, encoded as a URL wants it or not, is in no text that leaves the process. */
class SecretsTest {
  private static final String LEFT = "sEcrEt";
  private static final String RIGHT = "hIddEn";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://me:%s@127.0.0.1:1/0",
        "rediss://:%s@127.0.0.1:1",
        "redis-sentinel://me:%s@127.0.0.1:1,127.0.0.1:2/name",
        "redis-sentinel://127.0.0.1:1/name?holdfast.sentinel-password=%s",
        "redis-cluster://me:%s@127.0.0.1:1",
        "redlock://me:%s@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
        "zookeeper://me:%s@127.0.0.1:1/locks",
        "etcd://me:%s@127.0.0.1:1",
        "etcds://me:%s@127.0.0.1:1",
        "consul://me:%s@127.0.0.1:1",
        "jdbc:postgresql://127.0.0.1:1/app?user=me@corp&password=%s",
        "jdbc:mysql://me:%s@127.0.0.1:1/app",
        "jdbc:mysql://address=(host=127.0.0.1)(port=1)(password=%s)/app",
        "jdbc:mariadb://127.0.0.1:1/app?password=%s&user=me@corp"
      })
  void password_isInNoText(String form) {
    List<String> shown = new ArrayList<>();
    for (char c = '!'; c <= '~'; c++) {
      if (Character.isLetterOrDigit(c)) {
        continue;
      }
      String password = LEFT + c + RIGHT + c;
      for (String each : List.of(password, URLEncoder.encode(password, StandardCharsets.UTF_8))) {
        String text = textOf(form.replace("%s", each));
        if (text.contains(LEFT) || text.contains(RIGHT)) {
          shown.add(each + " in: " + text);
        }
      }
    }
    assertThat(shown).isEmpty();
  }

  /** What is said of the store, or of why there is none. */
  private static String textOf(String uri) {
    try (LockStore store = Stores.open(uri)) {
      return store.describe() + "\n" + store;
    } catch (HoldfastException e) {
      StringWriter text = new StringWriter();
      e.printStackTrace(new PrintWriter(text));
      return e.store() + "\n" + text;
    }
  }
}
