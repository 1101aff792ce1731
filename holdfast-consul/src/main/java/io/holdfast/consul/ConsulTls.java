// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes what TLS needs from PEM files. */
final class ConsulTls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", Pattern.DOTALL);
  private static final char[] NO_PASSWORD = new char[0];

  private ConsulTls() {}

  static SSLContext context(Optional<Path> ca, Optional<Path> certificate, Optional<Path> key)
      throws GeneralSecurityException, IOException {
    SSLContext context = SSLContext.getInstance("TLS");
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    if (certificate.isPresent() && key.isPresent()) {
      keys.init(identity(certificate.get(), key.get()), NO_PASSWORD);
    }
    if (ca.isPresent()) {
      trust.init(trusted(ca.get()));
    }
    context.init(
        key.isPresent() ? keys.getKeyManagers() : null,
        ca.isPresent() ? trust.getTrustManagers() : null,
        null);
    return context;
  }

  private static KeyStore trusted(Path file) throws GeneralSecurityException, IOException {
    KeyStore store = empty();
    int number = 0;
    for (Certificate each : certificates(file)) {
      store.setCertificateEntry("ca-" + number++, each);
    }
    return store;
  }

  private static KeyStore identity(Path certificate, Path key)
      throws GeneralSecurityException, IOException {
    KeyStore store = empty();
    store.setKeyEntry(
        "client", key(key), NO_PASSWORD, certificates(certificate).toArray(Certificate[]::new));
    return store;
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    Collection<? extends Certificate> all = CertificateFactory.getInstance("X.509")
        .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
    if (all.isEmpty()) {
      throw new IOException(file + " holds no certificate");
    }
    return all;
  }

  private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
    Matcher found = KEY.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    if (!found.find()) {
      throw new IOException(file + " holds no private key as PKCS #8 (BEGIN PRIVATE KEY)");
    }
    byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
    for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      } catch (InvalidKeySpecException e) {
        // it is of another kind
      }
    }
    throw new IOException(file + " holds a private key of a kind that is not known");
  }
}
