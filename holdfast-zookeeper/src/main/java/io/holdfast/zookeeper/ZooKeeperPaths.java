// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * Where the nodes are: {@code ROOT/format}, and for each lock the folder {@code ROOT/BUCKET/NAME} with the claims' nodes.
 * There are 64 buckets, so that a hundred thousand locks can still be listed: a server sends no answer of more than a
 * megabyte. A folder is a container, which the server removes when it is empty.
 */
final class ZooKeeperPaths {
  static final int BUCKETS = 64;

  /** What the marker of a kept lock begins with, in its folder; then follows the revision of the grant. */
  private static final String KEPT = "kept-";

  private static final int LONGEST_FOLDER = 120;

  private final String root;

  /** Takes an absolute path, without a slash at its end. */
  ZooKeeperPaths(String root) {
    this.root = root;
  }

  String root() {
    return root;
  }

  String format() {
    return root + "/format";
  }

  /** A node that is never made. */
  String nothing() {
    return root + "/nothing/nothing";
  }

  /** Returns the root and the folders above it, from the top. */
  List<String> ancestors() {
    List<String> all = new ArrayList<>();
    for (int slash = root.indexOf('/', 1); slash > 0; slash = root.indexOf('/', slash + 1)) {
      all.add(root.substring(0, slash));
    }
    all.add(root);
    return all;
  }

  String bucket(int number) {
    return root + "/" + String.format(Locale.ROOT, "%02d", number);
  }

  String bucket(LockKey key) {
    CRC32 sum = new CRC32();
    sum.update(key.bytes());
    return bucket((int) (sum.getValue() % BUCKETS));
  }

  String folder(LockKey key) {
    return bucket(key) + "/" + folderName(key);
  }

  /** Returns the lock of that name if the folder is the one that we make for it: others may have made theirs beside ours. */
  Optional<LockKey> lockOf(String folder, String name) {
    try {
      return Optional.of(LockKey.of(name)).filter(key -> folder(key).equals(folder));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** No path may have a part . or .., which are names of locks like any other. */
  private static String folderName(LockKey key) {
    String name = key.fit(LONGEST_FOLDER);
    return name.equals(".") || name.equals("..") ? "~" + name.length() : name;
  }

  /** No two markers have the same path: who takes one away never takes away another. */
  static String marker(String folder, long revision) {
    return folder + "/" + KEPT + revision;
  }

  /** Returns the name of the marker of a kept lock among a folder's children. */
  static Optional<String> markerIn(List<String> names) {
    return names.stream().filter(name -> name.startsWith(KEPT)).findFirst();
  }

  /** Returns the folder of a node. */
  static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  static String last(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
