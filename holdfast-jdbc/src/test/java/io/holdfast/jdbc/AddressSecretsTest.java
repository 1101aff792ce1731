// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No word of a password is in what a driver says of the address that it was given, encoded as a URL wants it or not. */
class AddressSecretsTest {
  private static final String LEFT = "sEcrEt";
  private static final String RIGHT = "hIddEn";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://127.0.0.1:1/app?user=me@corp&password=%s",
        "jdbc:postgresql://127.0.0.1:1/app?password=%s&user=me",
        "jdbc:mysql://me:%s@127.0.0.1:1/app",
        "jdbc:mysql://address=(host=127.0.0.1)(port=1)(password=%s)/app",
        "jdbc:mysql://(host=127.0.0.1,port=1,password=%s)/app",
        "jdbc:mariadb://127.0.0.1:1/app?password=%s&user=me@corp",
        "jdbc:mariadb://127.0.0.1:1/app?trustStorePassword=%s&user=me",
        "jdbc:mariadb://address=(host=127.0.0.1)(port=1)(password=%s)/app"
      })
  void whatADriverSays_hasNoWordOfThePassword(String form) {
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

  /** A driver that was asked by itself does quote it: else the test above would prove nothing. */
  @Test
  void driver_quotesWhatItDoesNotUnderstand() {
    String url = "jdbc:mariadb://address=(host=127.0.0.1)(port=1)(password=sEcrEt)hIddEn)/app";
    Throwable failure = catchThrowable(() -> java.sql.DriverManager.getConnection(url));
    assertThat(failure).hasStackTraceContaining(RIGHT);
  }

  /** The pool, too, and what it says of its first connection. */
  @Test
  void whatThePoolSays_hasNoWordOfThePassword() {
    String url = "jdbc:mariadb://address=(host=127.0.0.1)(port=1)(password=sEcrEt)hIddEn)/app";
    PooledSource source = source(url);
    try {
      assertThat(text(catchThrowable(source::connect)))
          .contains("***")
          .doesNotContain(LEFT)
          .doesNotContain(RIGHT);
    } finally {
      source.close();
    }
  }

  @Test
  void whatQuotesNothing_staysTheSame() {
    AddressSecrets secrets =
        AddressSecrets.of("jdbc:postgresql://127.0.0.1:1/app?user=me&password=sEcrEt");
    SQLException failure = new SQLException("no route to 127.0.0.1", new IOException("refused"));
    assertThatCode(() -> secrets.throwIfQuoted(failure)).doesNotThrowAnyException();
    assertThatCode(() -> secrets.throwIfQuoted(new IllegalStateException("closed")))
        .doesNotThrowAnyException();
  }

  /** Type, SQLState and code stay: the store classifies a failure by them. */
  @Test
  void whatQuotesAPassword_isOfTheSameKind() {
    AddressSecrets secrets =
        AddressSecrets.of("jdbc:mysql://me:sEcrEt@127.0.0.1:1/app?connectTimeout=2000");
    SQLException cause = new SQLException("for me:sEcrEt", "28000", 1045);
    SQLException failure =
        new SQLTransientConnectionException("none of 127.0.0.1", "08001", 7, cause);
    SQLException clean =
        catchThrowableOfType(SQLException.class, () -> secrets.throwIfQuoted(failure));
    assertThat((Throwable) clean).isInstanceOf(SQLTransientConnectionException.class);
    assertThat(clean.getMessage()).isEqualTo("none of 127.0.0.1");
    assertThat(clean.getSQLState()).isEqualTo("08001");
    assertThat(clean.getErrorCode()).isEqualTo(7);
    assertThat(clean.getStackTrace()).isEqualTo(failure.getStackTrace());
    assertThat(clean.getCause()).isInstanceOfSatisfying(SQLException.class, same -> {
      assertThat(same.getMessage()).isEqualTo("for me:***");
      assertThat(same.getSQLState()).isEqualTo("28000");
      assertThat(same.getErrorCode()).isEqualTo(1045);
    });
  }

  /** A password that is also the user's or the database's name is no secret, and its message one can read. */
  @Test
  void wordThatTheAddressShows_isShown() {
    AddressSecrets secrets =
        AddressSecrets.of("jdbc:postgresql://127.0.0.1:1/app?password=app&user=app&ssl=false");
    assertThat(secrets.without("database \"app\" does not exist"))
        .isEqualTo("database \"app\" does not exist");
    assertThat(secrets.without("no password, no ssl, false"))
        .isEqualTo("no password, no ssl, false");
  }

  /** Two special characters that differ: a password may look like the end of a login, of a host or of a parameter. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:mysql://me:%s@127.0.0.1:1/app",
        "jdbc:mysql://me:%s@127.0.0.1:1/app?connectTimeout=1",
        "jdbc:mysql://(host=127.0.0.1,port=1,password=%s)/app",
        "jdbc:postgresql://127.0.0.1:1/app?password=%s"
      })
  void passwordWithTwoSpecialCharacters_isMasked(String form) {
    List<String> shown = new ArrayList<>();
    String special = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~";
    for (int i = 0; i < special.length() * special.length(); i++) {
      char one = special.charAt(i / special.length());
      char other = special.charAt(i % special.length());
      String password = LEFT + one + RIGHT + other + "lAst";
      String url = form.replace("%s", password);
      String text =
          AddressSecrets.of(url).without("near '" + LEFT + "' or '" + RIGHT + "' of " + url);
      // a raw & begins the next parameter for the driver, too
      boolean endsThere = form.endsWith("password=%s") && one == '&' && other == '=';
      if (!endsThere && (text.contains(LEFT) || text.contains(RIGHT) || text.contains("lAst"))) {
        shown.add(password + " in: " + text);
      }
    }
    assertThat(shown).isEmpty();
  }

  /** A password that is a word of the driver's: to mask it would show what it is. */
  @Test
  void wordThatDriversSay_isShown() {
    AddressSecrets secrets = AddressSecrets.of("jdbc:mysql://me:password@127.0.0.1:1/app");
    assertThat(secrets.without("password authentication failed"))
        .isEqualTo("password authentication failed");
    assertThat(AddressSecrets.of("jdbc:mysql://me:for@127.0.0.1:1/app").without("forward for me"))
        .isEqualTo("forward *** me");
  }

  @Test
  void wordsOfSeveralPasswords_areMasked() {
    AddressSecrets secrets = AddressSecrets.of(
        "jdbc:mysql://me:a?sEcrEt@127.0.0.1:1/app?trustStorePassword=hIddEn&user=post");
    assertThat(secrets.without("sEcrEt, hIddEn, post")).isEqualTo("***, ***, post");
    // a part of a longer word that the address shows is another word
    assertThat(AddressSecrets.of("jdbc:postgresql://127.0.0.1:1/app?password=post)ret")
            .without("post, ret"))
        .isEqualTo("***, ***");
  }

  @Test
  void addressWithoutAPassword_hidesNothing() {
    assertThat(AddressSecrets.of("jdbc:postgresql://127.0.0.1:1/app?user=me@corp")
            .without("me@corp at 127.0.0.1:1/app"))
        .isEqualTo("me@corp at 127.0.0.1:1/app");
    assertThat(AddressSecrets.of("jdbc:mysql:app").without("app")).isEqualTo("app");
  }

  private static PooledSource source(String url) {
    StoreAddress address = StoreAddress.parse(url);
    return PooledSource.of(address, JdbcOptions.of(address));
  }

  private static String textOf(String url) {
    try {
      PooledSource source = source(url);
      try {
        return text(catchThrowable(source::connectAside));
      } finally {
        source.close();
      }
    } catch (RuntimeException e) {
      return text(e);
    }
  }

  private static String text(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
