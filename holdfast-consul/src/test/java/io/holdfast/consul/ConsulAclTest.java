// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.LazyServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A server that asks for tokens: what is needed, what is refused, and a token that is exchanged. */
@Tag("stores")
class ConsulAclTest {
  private static final String ROOT = "5f3e1a5e-0000-4000-8000-000000000001";
  private static final String RULES = "key_prefix \\\"holdfast/\\\" { policy = \\\"write\\\" }"
      + " session_prefix \\\"\\\" { policy = \\\"write\\\" }";

  @RegisterExtension
  static final LazyServer<ConsulServer> SERVER = new LazyServer<>(ConsulAclTest::start);

  private static ConsulServer start() {
    ConsulServer server = ConsulServer.withToken(
        ROOT,
        "-hcl=acl { enabled = true, default_policy = \"deny\", tokens { initial_management = \""
            + ROOT + "\", agent = \"" + ROOT + "\" } }");
    server.call("PUT", "/v1/acl/policy", "{\"Name\":\"locks\",\"Rules\":\"" + RULES + "\"}");
    return server;
  }

  private static String token() {
    String made =
        SERVER.get().call("PUT", "/v1/acl/token", "{\"Policies\":[{\"Name\":\"locks\"}]}");
    return made.replaceAll(".*\"SecretID\":\"|\".*", "");
  }

  private static void revoke(String token) {
    String all = SERVER.get().call("GET", "/v1/acl/tokens", "");
    String before = all.substring(0, all.indexOf(token));
    int at = before.lastIndexOf("\"AccessorID\":\"") + 14;
    SERVER.get().call("DELETE", "/v1/acl/token/" + before.substring(at, at + 36), "");
  }

  /** The rights that the documentation names are enough. */
  @Test
  void token_withTheRights_locks() throws Exception {
    try (Holdfast holdfast =
            Clients.connect("consul://:" + token() + "@" + SERVER.get().endpoint());
        Hold hold = holdfast.lock("job").acquire()) {
      assertThat(hold.isValid()).isTrue();
      assertThat(holdfast.lock("job").tryAcquire()).isEmpty();
      assertThat(holdfast.admin().list("")).hasSize(1);
    }
  }

  /** Without a token nothing is done, and what is missing is said. */
  @Test
  void noToken_isRefused() {
    assertThatThrownBy(() -> Holdfast.connect(SERVER.get().uri()).close())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Reason.REFUSED))
        .hasMessageContaining("session write");
  }

  /** A prefix that the token is not for. */
  @Test
  void otherPrefix_isRefused() {
    String uri = "consul://:" + token() + "@" + SERVER.get().endpoint() + "?holdfast.prefix=other/";
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("holdfast.prefix");
  }

  /** The token in the file is exchanged, and the old one revoked: the hold is renewed with the new one. */
  @Test
  void tokenFile_isReadAgain(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("token");
    String old = token();
    Files.writeString(file, old + "\n");
    String uri = SERVER.get().uri() + "?holdfast.token-file=" + file;
    try (Holdfast holdfast = Clients.connect(uri);
        Hold hold = holdfast.lock("rotated").acquire()) {
      Files.writeString(file, token() + "\n");
      revoke(old);
      assertThat(holdfast.lock("another").acquire().release()).isTrue();
      assertThat(hold.release()).isTrue();
    }
  }
}
