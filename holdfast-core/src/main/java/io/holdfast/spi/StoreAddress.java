// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.ConfigurationException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The address of a store, with Holdfast's own {@code holdfast.*} query parameters taken out, so that no driver sees
 * them. Its text form never shows a password.
 */
public final class StoreAddress {
  /** What has no name may be a secret. */
  private static final Pattern NAME_AND_VALUE = Pattern.compile("([\\w.-]+)=.*");

  private static final String OURS = "holdfast.";

  /** What hosts follow. JDBC drivers have a word before it that says how the hosts are used. */
  private static final Pattern AUTHORITY = Pattern.compile("([A-Za-z-]+:)?//");

  /** Some drivers take parameters for each host, too. Where such a password ends is for the driver to know. */
  private static final Pattern PASSWORD = Pattern.compile("(?i)(password\\s*=\\s*).*");

  private final String scheme;
  private final String url;
  private final Map<String, String> options;

  private StoreAddress(String scheme, String url, Map<String, String> options) {
    this.scheme = scheme;
    this.url = url;
    this.options = options;
  }

  /**
   * Reads an address.
   *
   * @param text {@code scheme:rest[?parameters]}; with {@code jdbc:}, the scheme has two parts
   * @return the address
   * @throws ConfigurationException if it has no scheme
   */
  public static StoreAddress parse(String text) {
    Objects.requireNonNull(text, "uri");
    int colon = text.indexOf(':');
    if (colon > 0 && text.regionMatches(true, 0, "jdbc:", 0, 5)) {
      colon = text.indexOf(':', 5);
    }
    if (colon <= 0) {
      throw new ConfigurationException(
          "a store's address begins with its scheme, as in memory: or sqlite:locks.db; this one has"
              + " none",
          "no store",
          null);
    }
    String scheme = text.substring(0, colon).toLowerCase(Locale.ROOT);
    int question = text.indexOf('?');
    if (question < 0) {
      return new StoreAddress(scheme, text, Map.of());
    }
    Map<String, String> options = new LinkedHashMap<>();
    List<String> others = new ArrayList<>();
    for (String part : text.substring(question + 1).split("&", -1)) {
      if (part.startsWith(OURS)) {
        int equals = part.indexOf('=');
        String key = equals < 0 ? part : part.substring(0, equals);
        String value = equals < 0 ? "" : part.substring(equals + 1);
        options.put(key.substring(OURS.length()), decode(key, value));
      } else if (!part.isEmpty()) {
        others.add(part);
      }
    }
    String base = text.substring(0, question);
    String url = others.isEmpty() ? base : base + "?" + String.join("&", others);
    return new StoreAddress(scheme, url, Map.copyOf(options));
  }

  private static String decode(String key, String value) {
    try {
      return URLDecoder.decode(value, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // without the cause: its message quotes the value, which may be a secret
      throw new ConfigurationException(
          "the value of " + key + " is not encoded as a URL's parameters are", "no store", null);
    }
  }

  /**
   * Returns the scheme.
   *
   * @return in lower case, without the colon; two parts for JDBC
   */
  public String scheme() {
    return scheme;
  }

  /**
   * Returns the address for the driver. May hold a password.
   *
   * @return the address without Holdfast's parameters
   */
  public String url() {
    return url;
  }

  /**
   * Returns what follows the scheme's colon, without any parameters.
   *
   * @return for example the path of {@code sqlite:PATH}
   */
  public String rest() {
    int question = url.indexOf('?');
    return url.substring(scheme.length() + 1, question < 0 ? url.length() : question);
  }

  /**
   * Returns one of Holdfast's parameters.
   *
   * @param name without {@code holdfast.}
   * @return its value
   */
  public Optional<String> option(String name) {
    return Optional.ofNullable(options.get(Objects.requireNonNull(name, "name")));
  }

  /**
   * Returns one of Holdfast's parameters as a duration: digits and {@code ms}, {@code s}, {@code m}, {@code h} or {@code
   * d}; a bare number is seconds.
   *
   * @param name without {@code holdfast.}
   * @param otherwise what it is if it was not given
   * @param least the shortest that makes sense
   * @param most the longest that makes sense
   * @return its value
   * @throws ConfigurationException if it is something else, or out of range
   */
  public Duration duration(String name, Duration otherwise, Duration least, Duration most) {
    Optional<String> text = option(name);
    Objects.requireNonNull(otherwise, "otherwise");
    Objects.requireNonNull(least, "least");
    Objects.requireNonNull(most, "most");
    if (text.isEmpty()) {
      return otherwise;
    }
    Optional<Duration> value = parseDuration(text.get().trim().toLowerCase(Locale.ROOT));
    if (value.isEmpty() || value.get().compareTo(least) < 0 || value.get().compareTo(most) > 0) {
      throw new ConfigurationException(
          "holdfast." + name + "=" + text.get() + " is no duration from "
              + DurationText.exact(least) + " to " + DurationText.exact(most)
              + "; write for example 500ms, 30s, 5m, 24h or 7d",
          toString(),
          null);
    }
    return value.get();
  }

  private static Optional<Duration> parseDuration(String text) {
    int digits = 0;
    while (digits < text.length() && digits < 12 && Character.digit(text.charAt(digits), 10) >= 0) {
      digits++;
    }
    if (digits == 0) {
      return Optional.empty();
    }
    long number = Long.parseLong(text.substring(0, digits));
    return switch (text.substring(digits)) {
      case "ms" -> Optional.of(Duration.ofMillis(number));
      case "", "s" -> Optional.of(Duration.ofSeconds(number));
      case "m" -> Optional.of(Duration.ofMinutes(number));
      case "h" -> Optional.of(Duration.ofHours(number));
      case "d" -> number > 100_000 ? Optional.empty() : Optional.of(Duration.ofDays(number));
      default -> Optional.empty();
    };
  }

  /**
   * Refuses parameters that the store does not know, so that a typing error is not ignored.
   *
   * @param known the names that it knows, without {@code holdfast.}
   * @throws ConfigurationException naming the unknown ones and the known ones
   */
  public void requireOnly(String... known) {
    TreeSet<String> unknown = new TreeSet<>(options.keySet());
    unknown.removeAll(List.of(known));
    if (!unknown.isEmpty()) {
      throw new ConfigurationException(
          "unknown parameter holdfast." + String.join(", holdfast.", unknown) + "; "
              + nearest(unknown, List.of(known))
                  .map(meant -> "did you mean holdfast." + meant + "?")
                  .orElse(
                      known.length == 0
                          ? "this store has none"
                          : "this store knows holdfast." + String.join(", holdfast.", known)),
          toString(),
          null);
    }
  }

  private static Optional<String> nearest(Set<String> unknown, List<String> known) {
    return unknown.size() == 1
        ? Spelling.nearest(unknown.iterator().next(), known)
        : Optional.empty();
  }

  /**
   * Refuses parameters that are not Holdfast's, for a store whose driver takes none from the address.
   *
   * @param address what it is, for people: {@code a Redis address}
   * @throws ConfigurationException naming those parameters, without their values, which may be secrets
   */
  public void requireNoOthers(String address) {
    Objects.requireNonNull(address, "address");
    int question = url.indexOf('?');
    if (question >= 0) {
      String names = mayCutAPassword(question)
          ? ""
          : Arrays.stream(url.substring(question + 1).split("&", -1))
              .map(NAME_AND_VALUE::matcher)
              .filter(Matcher::matches)
              .map(named -> named.group(1))
              .collect(Collectors.joining(", "));
      throw new ConfigurationException(
          address + " takes only holdfast.* parameters" + (names.isEmpty() ? "" : ", but has ")
              + names,
          toString(),
          null);
    }
  }

  /** Returns the address for people: user and password, and all parameters, left out. */
  @Override
  public String toString() {
    int question = url.indexOf('?');
    String text = question < 0 ? url : url.substring(0, question);
    text = PASSWORD.matcher(text).replaceAll("$1***");
    int authority = authority();
    if (authority < 0 && url.indexOf('@') >= 0 && !isFile()) {
      // where a password ends in what is no address cannot be told
      return scheme + ":***";
    }
    int colon = authority < 0 ? -1 : text.indexOf(':', authority);
    if (colon >= 0 && question >= 0 && mayCutAPassword(question)) {
      // what is before the colon may be a secret too, and the host cannot be told
      return text.substring(0, authority + 2) + "***";
    }
    int at = text.lastIndexOf('@');
    return authority >= 0 && at > authority
        ? text.substring(0, authority + 2) + text.substring(at + 1)
        : text;
  }

  /** Where the {@code //} before hosts is, behind the scheme, or a JDBC driver's word behind that; -1 if there is none. */
  private int authority() {
    Matcher slashes = AUTHORITY.matcher(url).region(scheme.length() + 1, url.length());
    return slashes.lookingAt() && (slashes.group(1) == null || scheme.startsWith("jdbc:"))
        ? slashes.end() - 2
        : -1;
  }

  /**
   * Says whether hosts follow, behind {@code //}.
   *
   * @return false also for what was meant so, and has no slashes
   */
  public boolean hasHosts() {
    return authority() >= 0;
  }

  /** Whether the address is a path, or the name of something in this process: then it has no password. */
  private boolean isFile() {
    return scheme.endsWith("sqlite") || scheme.equals("memory");
  }

  /** Whether a question mark may stand in a password: then what is before it is no host and port. */
  private boolean mayCutAPassword(int question) {
    int at = url.indexOf('@', question);
    int equals = url.indexOf('=', question);
    int authority = authority();
    boolean hasPath = authority >= 0 && url.substring(authority + 2, question).indexOf('/') >= 0;
    return at >= 0 && !(hasPath && equals >= 0 && equals < at);
  }
}
