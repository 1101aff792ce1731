// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.process.Needs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A small disk of its own, that can be filled and made read-only. Needs the right to mount. */
@Tag("all")
class SqliteDiskTest {
  @TempDir
  private Path folder;

  private static boolean run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
  }

  private interface OnDisk {
    void run(Path disk) throws Exception;
  }

  private void onSmallDisk(OnDisk test) throws Exception {
    Path disk = Files.createDirectory(folder.resolve("disk"));
    boolean mounted;
    try {
      mounted = run("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk.toString());
    } catch (IOException e) {
      mounted = false;
    }
    Needs.that(mounted, "a full disk is not tested: this user may not mount one");
    try {
      test.run(disk);
    } finally {
      assertThat(run("umount", disk.toString())).isTrue();
    }
  }

  private static void fill(Path disk) throws IOException {
    try (OutputStream out = Files.newOutputStream(disk.resolve("filler"))) {
      for (int i = 0; i < 10_000; i++) {
        out.write(new byte[1024]);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space");
    }
  }

  /** The typed error, nothing half done, nothing lost; and it goes on when there is room again. */
  @Test
  void aFullDisk_isToldAndSurvived() throws Exception {
    onSmallDisk(disk -> {
      try (Client client = new Client(disk.resolve("locks.db")).connect()) {
        Claim held = client.claim("held");
        long revision = client.granted(held).revision();
        fill(disk);
        List<Claim> granted = new ArrayList<>();
        StoreException full = fillUntilRefused(client, granted);

        assertThat(full.reason()).isEqualTo(Reason.FULL);
        assertThat(full.notApplied()).isTrue();
        assertThat(full).hasMessageContaining("make room");
        assertThat(keepUntilRefused(client, held).reason()).isEqualTo(Reason.FULL);
        Files.delete(disk.resolve("filler"));

        assertThat(((Kept.Held) client.keep(held)).grant().revision()).isEqualTo(revision);
        for (Claim claim : granted) {
          assertThat(client.keep(claim)).isInstanceOf(Kept.Held.class);
        }
        assertThat(Client.get(client.store.own())).hasSize(granted.size() + 1);
      }
    });
  }

  private static StoreException fillUntilRefused(Client client, List<Claim> granted) {
    for (int i = 0; i < 10_000; i++) {
      Claim claim = client.claim("lock-" + i);
      try {
        client.attempt(claim, Mode.TRY);
      } catch (StoreException e) {
        return e;
      }
      granted.add(claim);
    }
    throw new AssertionError("the disk did not fill");
  }

  /** What was too much for a grant may be enough for a renewal or two, which write less. */
  private static StoreException keepUntilRefused(Client client, Claim held) {
    for (int i = 0; i < 1_000; i++) {
      try {
        assertThat(client.keep(held)).isInstanceOf(Kept.Held.class);
      } catch (StoreException e) {
        return e;
      }
    }
    throw new AssertionError("the disk has room for any number of renewals");
  }

  /** Nothing can be made there at all. */
  @Test
  void aDiskThatIsFullAtTheStart_isTold() throws Exception {
    onSmallDisk(disk -> {
      fill(disk);
      try (Client client = new Client(disk.resolve("locks.db"))) {
        assertThatThrownBy(client::connect)
            .isInstanceOfSatisfying(
                StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FULL));
        Files.delete(disk.resolve("filler"));
        client.connect();
        client.granted(client.claim("a"));
      }
    });
  }

  /** A file that may only be read serves nobody; it says so at the start. */
  @Test
  void aReadOnlyDisk_isRefused() throws Exception {
    onSmallDisk(disk -> {
      Path file = disk.resolve("locks.db");
      new Client(file).connect().close();
      assertThat(run("mount", "-o", "remount,ro", disk.toString())).isTrue();
      try (Client client = new Client(file)) {
        assertThatThrownBy(client::connect)
            .isInstanceOfSatisfying(
                StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED))
            .hasMessageContaining("must be able to write");
      }
      try (Client client = new Client(disk.resolve("other.db"))) {
        assertThatThrownBy(client::connect)
            .isInstanceOfSatisfying(
                StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
      }
    });
  }
}
