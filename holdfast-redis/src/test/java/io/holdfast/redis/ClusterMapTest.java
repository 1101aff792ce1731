// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.ClusterMap.Endpoint;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What nodes say of where others are; some have announced no name, or go by another one. */
class ClusterMapTest {
  private static final Endpoint SAID = new Endpoint("10.0.0.1", 7000);

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static @Nullable Endpoint read(Object... primary) {
    List<Object> range = List.of(0L, 16_383L, List.of(primary));
    return ClusterMap.read(List.of(range), SAID).owner(1);
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.2:7001, 10.0.0.2:7001",
    ":7001, 10.0.0.1:7001",
    "?:7001, 10.0.0.1:7001",
    "::1:7001, ::1:7001"
  })
  void redirection_withoutAHost_isToTheHostThatSaysSo(String text, String endpoint) {
    assertThat(Endpoint.parse(text, SAID)).hasToString(endpoint);
  }

  @Test
  void node_goesByTheNameThatItHas() {
    assertThat(read(bytes("a.example"), 7001L, bytes("id"))).hasToString("a.example:7001");
    assertThat(read(bytes(""), 7001L, bytes("id"))).hasToString("10.0.0.1:7001");
  }

  /** As with {@code cluster-preferred-endpoint-type hostname}, at a node that has announced none. */
  @Test
  void nodeWithoutAName_goesByItsAddress() {
    List<byte[]> more = List.of(bytes("hostname"), bytes("x"), bytes("ip"), bytes("10.0.0.2"));
    assertThat(read(bytes("?"), 7001L, bytes("id"), more)).hasToString("10.0.0.2:7001");
    assertThat(read(bytes("?"), 7001L, bytes("id"), List.of())).hasToString("10.0.0.1:7001");
  }

  private static List<Object> range(long from, long to, long port) {
    return List.of(from, to, List.of(bytes("a"), port, bytes("id")));
  }

  @Test
  void owners_areTheNodesThatHaveSlots() {
    assertThat(ClusterMap.EMPTY.owners()).isEmpty();
    ClusterMap map =
        ClusterMap.read(List.of(range(0, 9, 1), range(20, 20, 2), range(21, 16_383, 1)), SAID);
    Endpoint one = new Endpoint("a", 1);
    Endpoint two = new Endpoint("a", 2);
    Endpoint three = new Endpoint("a", 3);
    assertThat(map.owners()).containsExactly(one, two);
    assertThat(map.with(10, three).owners()).containsExactlyInAnyOrder(one, two, three);
    assertThat(map.with(20, one).owners()).as("its last slot went").containsExactly(one);
  }
}
