// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.jspecify.annotations.Nullable;

/** What an address says about TLS, for ZooKeeper's client: it takes PEM files, our certificate and its key in one. */
final class ZooKeeperTls {
  private static final String PEM = "PEM";

  private final StoreAddress address;
  private final boolean on;
  private final Optional<Path> ca;
  private final Optional<Path> certificate;
  private final Optional<Path> key;
  private @Nullable Path merged;

  ZooKeeperTls(StoreAddress address) {
    this.address = address;
    this.on = readSwitch();
    this.ca = file("tls-ca");
    this.certificate = file("tls-cert");
    this.key = file("tls-key");
    if (certificate.isPresent() != key.isPresent()) {
      throw wrong("holdfast.tls-cert and holdfast.tls-key belong together");
    }
    if (!on && (ca.isPresent() || key.isPresent())) {
      throw wrong("holdfast.tls-... needs TLS; write holdfast.tls=true");
    }
  }

  private boolean readSwitch() {
    String text = address.option("tls").orElse("false");
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong("holdfast.tls can be true or false");
    };
  }

  private Optional<Path> file(String name) {
    Optional<Path> file = address.option(name).map(Path::of);
    if (file.isPresent() && !Files.isReadable(file.get())) {
      throw wrong("holdfast." + name + " names no file that can be read: " + file.get());
    }
    return file;
  }

  boolean isOn() {
    return on;
  }

  /** Whether we have a certificate, which the servers take for a login. */
  boolean showsWhoWeAre() {
    return certificate.isPresent();
  }

  /** Sets what a client needs. */
  void into(ZKClientConfig config) {
    if (!on) {
      return;
    }
    config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNetty.class.getName());
    try (ClientX509Util names = new ClientX509Util()) {
      ca.ifPresent(file -> {
        config.setProperty(names.getSslTruststoreLocationProperty(), file.toString());
        config.setProperty(names.getSslTruststoreTypeProperty(), PEM);
      });
      if (certificate.isPresent() && key.isPresent()) {
        Path both = both(certificate.get(), key.get());
        config.setProperty(names.getSslKeystoreLocationProperty(), both.toString());
        config.setProperty(names.getSslKeystoreTypeProperty(), PEM);
      }
    }
  }

  private synchronized Path both(Path shown, Path secret) {
    if (shown.equals(secret)) {
      return shown;
    }
    Path there = merged;
    if (there != null) {
      return there;
    }
    try {
      // only its owner may read it
      Path made = Files.createTempFile("holdfast-tls", ".pem");
      if (made.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-------"));
      }
      merged = made;
      made.toFile().deleteOnExit();
      Files.writeString(made, Files.readString(shown) + "\n" + Files.readString(secret));
      return made;
    } catch (IOException e) {
      throw new ConfigurationException(
          "the certificate and its key could not be put into one file: " + e.getMessage(),
          address.toString(),
          e);
    }
  }

  /** Removes the file that was made. */
  synchronized void close() {
    Path made = merged;
    merged = null;
    if (made != null) {
      try {
        Files.deleteIfExists(made);
      } catch (IOException e) {
        // it is deleted when this process ends
        System.getLogger("io.holdfast.zookeeper")
            .log(System.Logger.Level.DEBUG, "a temporary file is still there", e);
      }
    }
  }

  private ConfigurationException wrong(String message) {
    return new ConfigurationException(message, address.toString(), null);
  }
}
