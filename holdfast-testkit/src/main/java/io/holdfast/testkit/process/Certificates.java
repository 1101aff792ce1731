// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import io.holdfast.testkit.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A certificate authority for a test, made with the JDK's own keytool; certificates and keys as PEM files. */
public final class Certificates {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final int LINE = 64;

  private final Path folder;
  private final Path store;

  /**
   * Makes an authority, {@code ca.pem}.
   *
   * @param folder where the files are made; not removed
   */
  public Certificates(Path folder) {
    this.folder = folder;
    this.store = folder.resolve("keys.p12");
    keytool("ca", "-ext", "bc:c");
    pem("ca.pem", "CERTIFICATE", encoded(certificate("ca")));
  }

  /**
   * Makes {@code NAME.pem}, and its key {@code NAME.key}.
   *
   * @param name what the files are called
   * @param hosts whom it is for, as keytool has it: {@code ip:127.0.0.1}
   */
  public void issue(String name, String hosts) {
    keytool(name, "-signer", "ca", "-ext", "san=" + hosts);
    pem(name + ".pem", "CERTIFICATE", encoded(certificate(name)));
    pem(name + ".key", "PRIVATE KEY", key(name).getEncoded());
  }

  /**
   * Returns where a file is.
   *
   * @param name for example {@code ca.pem}
   * @return its path
   */
  public String file(String name) {
    return folder.resolve(name).toString();
  }

  private void keytool(String alias, String... more) {
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        // its start is what takes time
        "-J-XX:TieredStopAtLevel=1",
        "-J-XX:+UseSerialGC",
        "-genkeypair",
        "-keystore",
        store.toString(),
        "-storetype",
        "PKCS12",
        "-storepass",
        new String(PASSWORD),
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-validity",
        "2",
        "-alias",
        alias,
        "-dname",
        "CN=holdfast test " + alias));
    command.addAll(List.of(more));
    try {
      Process process = new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(folder.resolve("keytool.log").toFile())
          .start();
      if (Await.value(process.onExit()).exitValue() != 0) {
        throw new AssertionError(Files.readString(folder.resolve("keytool.log")));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("no keytool", e);
    }
  }

  private KeyStore load() throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    return keys;
  }

  private Certificate certificate(String alias) {
    try {
      return load().getCertificate(alias);
    } catch (GeneralSecurityException | IOException e) {
      throw new AssertionError(e);
    }
  }

  private Key key(String alias) {
    try {
      return load().getKey(alias, PASSWORD);
    } catch (GeneralSecurityException | IOException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] encoded(Certificate certificate) {
    try {
      return certificate.getEncoded();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private void pem(String name, String kind, byte[] content) {
    Base64.Encoder encoder = Base64.getMimeEncoder(LINE, new byte[] {'\n'});
    String text = "-----BEGIN " + kind + "-----\n" + encoder.encodeToString(content) + "\n-----END "
        + kind + "-----\n";
    try {
      Files.writeString(folder.resolve(name), text, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
