// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.testkit.etcd.EtcdServer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Gives a server users, by its gateway: {@code root}, one who may use the locks, and one who may only look at them. */
final class EtcdUsers {
  static final String PREFIX = "holdfast/";

  private EtcdUsers() {}

  /** Makes them, each with its name for a password, and requires a login from now on. */
  static void make(EtcdServer server) {
    user(server, "root", "root");
    role(server, "locks", "READWRITE", PREFIX);
    user(server, "worker", "locks");
    role(server, "look", "READ", PREFIX);
    user(server, "guest", "look");
    server.call("/v3/auth/enable", "{}");
  }

  private static void role(EtcdServer server, String name, String rights, String prefix) {
    server.call("/v3/auth/role/add", "{\"name\":\"" + name + "\"}");
    String end =
        prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1);
    server.call(
        "/v3/auth/role/grant",
        "{\"name\":\"" + name + "\",\"perm\":{\"permType\":\"" + rights + "\",\"key\":\""
            + base64(prefix) + "\",\"range_end\":\"" + base64(end) + "\"}}");
  }

  private static void user(EtcdServer server, String name, String role) {
    if (role.equals("root")) {
      server.call("/v3/auth/role/add", "{\"name\":\"root\"}");
    }
    server.call("/v3/auth/user/add", "{\"name\":\"" + name + "\",\"password\":\"" + name + "\"}");
    server.call("/v3/auth/user/grant", "{\"user\":\"" + name + "\",\"role\":\"" + role + "\"}");
  }

  /** Returns the server's address for a user. */
  static String uri(EtcdServer server, String user, String password) {
    return "etcd://" + user + ":" + password + "@" + server.endpoint();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
