// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.holdfast.ConfigurationException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses: our parameters go out, the driver's stay, secrets never show. */
class StoreAddressTest {
  @Test
  void ourParameters_areTakenOut() {
    StoreAddress address =
        StoreAddress.parse("jdbc:postgresql://db/x?user=a&holdfast.retention=1%20h&ssl=true");
    assertThat(address.scheme()).isEqualTo("jdbc:postgresql");
    assertThat(address.url()).isEqualTo("jdbc:postgresql://db/x?user=a&ssl=true");
    assertThat(address.option("retention")).contains("1 h");
  }

  @Test
  void rest_isWhatFollowsTheScheme() {
    assertThat(StoreAddress.parse("sqlite:/a/b.db?holdfast.retention=1h").rest())
        .isEqualTo("/a/b.db");
    assertThat(StoreAddress.parse("JDBC:SQLite:x.db").scheme()).isEqualTo("jdbc:sqlite");
    assertThat(StoreAddress.parse("memory:").rest()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:s3cret@host:1/0",
        "redis://:s3cret@host",
        "jdbc:mysql://host/db?user=u&password=s3cret",
        "jdbc:mysql://address=(host=host)(password=s3cret)/db",
        "jdbc:mysql://(host=host,Password = s3cret,port=1)/db",
        "redis://u:p@s3cret@host"
      })
  void toString_showsNoSecret(String uri) {
    assertThat(StoreAddress.parse(uri).toString()).doesNotContain("s3cret").contains("host");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis:user:s3cret@host",
        "redis:me:s3c//ret@host",
        "etcd:u:s3cret?x@host",
        "jdbc:mysql:u:s3cret@h",
        "jdbc:mariadb:me:s3c//ret@h/app"
      })
  void toString_withoutSlashes_showsNoSecret(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    assertThat(address.toString()).isEqualTo(address.scheme() + ":***");
  }

  @Test
  void toString_showsAPathWithAnAt() {
    assertThat(StoreAddress.parse("sqlite:a@b.db").toString()).isEqualTo("sqlite:a@b.db");
  }

  @Test
  void toString_showsTheHost_thoughTheUserHasAnAt() {
    assertThat(StoreAddress.parse(
                "jdbc:postgresql://127.0.0.1:1/app?user=me@corp&password=Sec)ret&ssl=true")
            .toString())
        .isEqualTo("jdbc:postgresql://127.0.0.1:1/app");
  }

  /** A name without a password may be a secret: some servers take a token there. */
  @ParameterizedTest
  @ValueSource(strings = {"redis://s3cret@host:6379?x=me@y", "consul://s3cret@host:8500?x=a@b"})
  void toString_showsNoName_whateverFollows(String uri) {
    assertThat(StoreAddress.parse(uri).toString()).doesNotContain("s3cret");
  }

  /** Each two characters that can be typed, encoded as a URL wants it or not, in each place that a password can have. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:%s@host:1/0",
        "redis://:%s@host",
        "redis-cluster://user:%s@host,other:7000",
        "jdbc:mysql://user:%s@host/db",
        "jdbc:mysql://host/db?user=me@corp&password=%s",
        "jdbc:postgresql://host:1/db?password=%s&user=me@corp",
        "jdbc:postgresql://host?user=me@corp&password=%s",
        "jdbc:mysql://address=(host=host)(password=%s)/db",
        "jdbc:mysql://(host=host,Password = %s,port=1)/db",
        "etcd://user:%s@host,other"
      })
  void toString_showsNoPartOfAPassword(String form) {
    for (char first = '!'; first <= '~'; first++) {
      for (char second = '!'; second <= '~'; second++) {
        String password = "left" + first + "right" + second;
        String encoded = URLEncoder.encode(password, StandardCharsets.UTF_8);
        for (String each : List.of(password, encoded)) {
          String shown = StoreAddress.parse(form.replace("%s", each)).toString();
          if (shown.contains("left") || shown.contains("right")) {
            fail("%s with %s is shown as %s", form, each, shown);
          }
        }
      }
    }
  }

  @Test
  void unknownParameter_isRefusedByName() {
    StoreAddress address = StoreAddress.parse("sqlite:x?holdfast.retentoin=1h");
    assertThatThrownBy(() -> address.requireOnly("retention"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage("unknown parameter holdfast.retentoin; did you mean holdfast.retention?");
    StoreAddress other = StoreAddress.parse("sqlite:x?holdfast.colour=red");
    assertThatThrownBy(() -> other.requireOnly("poll", "retention"))
        .hasMessage(
            "unknown parameter holdfast.colour; this store knows holdfast.poll, holdfast.retention");
  }

  /** Neither a value nor what has no name is shown: either may be a secret. */
  @Test
  void driversParameters_areRefusedByName() {
    StoreAddress address =
        StoreAddress.parse("redis://h?timeout=5&holdfast.poll=1s&s3cret&password=gUessed");
    assertThatThrownBy(() -> address.requireNoOthers("a Redis address"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage("a Redis address takes only holdfast.* parameters, but has timeout, password");
    StoreAddress bare = StoreAddress.parse("redis://h?s3cret");
    assertThatThrownBy(() -> bare.requireNoOthers("a Redis address"))
        .hasMessage("a Redis address takes only holdfast.* parameters");
    StoreAddress cut = StoreAddress.parse("redis://:S3c?hunter2=x@h");
    assertThatThrownBy(() -> cut.requireNoOthers("a Redis address"))
        .hasMessage("a Redis address takes only holdfast.* parameters");
    StoreAddress file = StoreAddress.parse("sqlite:a.db?cache=shared");
    assertThatThrownBy(() -> file.requireNoOthers("a SQLite address"))
        .hasMessage("a SQLite address takes only holdfast.* parameters, but has cache");
    StoreAddress.parse("redis://h?holdfast.poll=1s").requireNoOthers("a Redis address");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "nothing", ":x", "jdbc:"})
  void noScheme_isRefused(String uri) {
    assertThatThrownBy(() -> Stores.open(uri)).isInstanceOf(ConfigurationException.class);
  }

  @Test
  void unknownScheme_listsThoseFoundAndNamesTheArtifact() {
    assertThatThrownBy(() -> Stores.open("redis://localhost"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("memory:")
        .hasMessageContaining("io.holdfast:holdfast-redis");
    assertThatThrownBy(() -> Stores.open("nonsense:x"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("memory:");
  }

  @ParameterizedTest
  @CsvSource({
    "mysql://h/app, jdbc:mysql://",
    "MySQL://h/app, jdbc:mysql://",
    "mariadb://h/app, jdbc:mariadb://",
    "postgres://h/app, jdbc:postgresql://",
    "postgresql://h/app, jdbc:postgresql://",
    "jdbc:postgres://h/app, jdbc:postgresql://",
    "http://h:8500, consul:// or etcd://",
    "https://h:2379, consuls:// or etcds://",
    "zk://h, zookeeper://",
    "zookeper://h, zookeeper://",
    "rediis://h, redis://",
    "redis-sentinal://h, redis-sentinel://",
    "sqlte:locks.db, sqlite:",
    "file:locks.db, sqlite:",
    "memroy:, memory:",
  })
  void schemeThatIsAnotherOne_isAskedAbout(String uri, String meant) {
    assertThatThrownBy(() -> Stores.open(uri))
        .isInstanceOf(ConfigurationException.class)
        .message()
        .startsWith("no store serves ")
        .endsWith(": here; did you mean " + meant + "?");
  }
}
