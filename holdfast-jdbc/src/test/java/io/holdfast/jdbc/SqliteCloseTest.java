// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.process.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What is left after {@code close()}: nothing. */
@ResourceLock(StoreContract.SHARED)
class SqliteCloseTest {
  @TempDir
  private Path folder;

  /** Threads, descriptors, and the files that SQLite keeps beside it. */
  @Test
  void close_leavesNothing() throws IOException {
    Path file = folder.resolve("locks.db");
    Client client = new Client(file).connect();
    Client second = new Client(file).connect();
    Claim held = client.claim("a");
    client.granted(held);
    client.keep(held);
    second.busy(second.claim("a"));
    Client.get(client.store.list("", Optional.empty()));
    assertThat(threads()).isPositive();

    client.close();
    second.close();
    client.close();

    Patience.until(() -> threads() == 0);
    assertThat(Path.of(file + "-wal")).doesNotExist();
    Path descriptors = Path.of("/proc/self/fd");
    Needs.that(Files.isDirectory(descriptors), "open files are not counted: no /proc/self/fd");
    try (Stream<Path> all = Files.list(descriptors)) {
      assertThat(all.filter(each -> leadsTo(each, folder))).isEmpty();
    }
  }

  private static boolean leadsTo(Path descriptor, Path folder) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(folder);
    } catch (IOException e) {
      // It was closed while we listed.
      return false;
    }
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("holdfast-sqlite"))
        .count();
  }

  /** A clear answer, and certainly no effect. */
  @Test
  void verbs_failAfterClose() {
    Client client = new Client(folder.resolve("locks.db")).connect();
    Claim claim = client.claim("a");
    client.close();

    assertThatThrownBy(() -> client.attempt(claim, Mode.TRY))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.notApplied()).isTrue())
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> client.end(claim, Duration.ZERO)).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> Client.get(client.store.keep(List.of(claim))))
        .isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> Client.get(client.store.own())).isInstanceOf(StoreException.class);
  }

  /** An interrupt of the caller neither breaks the connection nor gets lost. */
  @Test
  void anInterrupt_isLeftAlone() {
    try (Client client = new Client(folder.resolve("locks.db")).connect()) {
      Claim claim = client.claim("a");
      Thread.currentThread().interrupt();
      var attempt = client.store.attempt(claim, Mode.TRY, client.soon());
      assertThat(Thread.interrupted()).isTrue();
      assertThat(Client.get(attempt)).isInstanceOf(io.holdfast.spi.Answer.Granted.class);
      client.end(claim);
    }
  }

  /** A store that was never started, or never asked, closes too. */
  @Test
  void close_ofAnUnusedStore() {
    SqliteStore.open(folder.resolve("never.db")).close();
    new Client(folder.resolve("never.db")).close();
    assertThat(folder.resolve("never.db")).doesNotExist();
  }
}
