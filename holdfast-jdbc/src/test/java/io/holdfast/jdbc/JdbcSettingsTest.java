// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings for the application's own data source, and the parameters of an address, say the same. */
@Tag("fast")
@Tag("stores")
class JdbcSettingsTest {
  private static final JdbcSettings ALL = JdbcSettings.builder()
      .schema("locks")
      .prefix("our_")
      .createsTables(false)
      .retention(Duration.ofDays(3))
      .poll(Duration.ofMillis(20))
      .connections(3)
      .listening(Listening.NEVER)
      .durability(Durability.RELAXED)
      .build();

  private static JdbcOptions of(String parameters) {
    return JdbcOptions.of(StoreAddress.parse("jdbc:postgresql://localhost/x" + parameters));
  }

  @Test
  void defaults_areThoseOfAnAddress() {
    assertThat(JdbcSettings.builder().build()).isEqualTo(JdbcSettings.defaults());
    assertThat(JdbcOptions.of(JdbcSettings.defaults())).isEqualTo(of(""));
  }

  @Test
  void allOfThem_areThoseOfAnAddress() {
    assertThat(ALL.toBuilder().build()).isEqualTo(ALL);
    assertThat(JdbcOptions.of(ALL))
        .isEqualTo(of("?holdfast.schema=locks&holdfast.prefix=our_&holdfast.tables=require"
            + "&holdfast.retention=3d&holdfast.poll=20ms&holdfast.connections=3"
            + "&holdfast.listen=never&holdfast.durability=relaxed"));
  }

  @Test
  void limits_areAllowed() {
    JdbcSettings least = JdbcSettings.builder()
        .retention(Duration.ofMinutes(1))
        .poll(Duration.ofMillis(2))
        .connections(1)
        .build();
    JdbcSettings most = least.toBuilder()
        .retention(Duration.ofDays(3660))
        .poll(Duration.ofSeconds(10))
        .connections(256)
        .build();
    assertThat(most.prefix()).isEqualTo(least.prefix());
  }

  /** The message names all that is wrong, with what was given and what may be. */
  @Test
  void whatIsOutOfRange_isNamedTogether() {
    assertThatThrownBy(() -> JdbcSettings.builder()
            .schema("a b")
            .prefix("")
            .retention(Duration.ofSeconds(59))
            .poll(Duration.ofMillis(1))
            .connections(0)
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "schema",
            "a b",
            "prefix",
            "retention",
            "59 s",
            "poll",
            "not 1 ms",
            "connections",
            "256");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen=perhaps",
        "durability=none",
        "connections=0",
        "connections=many",
        "prefix=A",
        "schema=a.b",
        "tables=drop",
        "poll=1ms"
      })
  void whatMakesNoSense_isNamed(String parameter) {
    assertThatThrownBy(() -> of("?holdfast." + parameter))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("holdfast." + parameter);
  }

  /** Tables with another prefix are other locks, and are not made if they must be there. */
  @ParameterizedTest
  @EnumSource
  void settings_areUsed(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    server.dropTables();
    JdbcSettings others = JdbcSettings.builder().prefix("our_").build();
    try (Holdfast ours = Holdfast.builder()
            .store(JdbcStore.using(server.dataSource(), others))
            .requestTimeout(Clients.REQUEST_TIMEOUT)
            .build();
        Holdfast plain = Holdfast.builder()
            .store(JdbcStore.using(server.dataSource()))
            .requestTimeout(Clients.REQUEST_TIMEOUT)
            .build()) {
      Hold hold = ours.lock("x").acquire();
      plain.lock("x").acquire().close();
      assertThat(hold.release()).isTrue();
      assertThat(server.query(server.tables()))
          .anyMatch(name -> name.contains("our_lock"))
          .anyMatch(name -> name.contains("holdfast_lock"));
    }
    JdbcSettings missing = others.toBuilder().prefix("no_").createsTables(false).build();
    assertThatThrownBy(() -> Holdfast.builder()
            .store(JdbcStore.using(server.dataSource(), missing))
            .build()
            .close())
        .hasMessageContaining("the tables are not there");
  }
}
