// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.io.Serial;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Reads and writes JSON: objects are maps, arrays lists, whole numbers longs. */
final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  /** A text that is no JSON, or not the JSON that was asked for. */
  static final class Foreign extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1L;

    Foreign(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  static String write(Consumer<JsonGenerator> content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      content.accept(json);
    }
    return text.toString();
  }

  /**
   * Reads a text.
   *
   * @throws Foreign if it is no JSON
   */
  static @Nullable Object read(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      parser.nextToken();
      return value(parser);
    } catch (JacksonException e) {
      throw new Foreign("this is no JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static @Nullable Object value(JsonParser parser) {
    JsonToken token = parser.currentToken();
    if (token == null) {
      return null;
    }
    return switch (token) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      case VALUE_NUMBER_INT -> parser.getLongValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> parser.getString();
    };
  }

  private static Map<String, @Nullable Object> object(JsonParser parser) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      object.put(name, value(parser));
    }
    return object;
  }

  private static List<@Nullable Object> array(JsonParser parser) {
    List<@Nullable Object> array = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(parser));
    }
    return array;
  }

  /** Returns the parts of an array; none if it is something else. */
  static List<?> list(@Nullable Object json) {
    return json instanceof List<?> list ? list : List.of();
  }

  /** Returns a part of an object; null if it is not there. */
  static @Nullable Object get(@Nullable Object json, String name) {
    return json instanceof Map<?, ?> map ? map.get(name) : null;
  }

  /** Returns a part of an object that is a text; empty if it is not there. */
  static String text(@Nullable Object json, String name) {
    return get(json, name) instanceof String text ? text : "";
  }

  /** Returns a part of an object that is a number; 0 if it is not there. */
  static long number(@Nullable Object json, String name) {
    return get(json, name) instanceof Long number ? number : 0;
  }
}
