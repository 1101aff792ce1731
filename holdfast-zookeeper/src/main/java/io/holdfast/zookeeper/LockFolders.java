// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.zookeeper.Reply.Children;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A walk over the folders of all locks, bucket by bucket, also of those that are empty by now. */
final class LockFolders {
  private LockFolders() {}

  /**
   * Lists all buckets, and looks at what is in each as soon as it is known.
   *
   * @param paths where the buckets are
   * @param list lists the bucket at a path
   * @param look takes the path of a bucket and the names of the folders in it
   * @return completes when all was looked at; fails if a bucket was not listed, or a look has failed
   */
  static CompletableFuture<?> walk(
      ZooKeeperPaths paths,
      Function<String, CompletableFuture<Reply<Children>>> list,
      BiFunction<String, List<String>, CompletableFuture<?>> look) {
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int number = 0; number < ZooKeeperPaths.BUCKETS; number++) {
      String bucket = paths.bucket(number);
      all.add(list.apply(bucket).thenCompose(folders -> {
        if (folders.isAbsent()) {
          return CompletableFuture.completedFuture(null);
        }
        return folders.isOk()
            ? look.apply(bucket, folders.get().names())
            : CompletableFuture.failedFuture(
                ZooKeeperErrors.of("could not list the locks", folders));
      }));
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
  }
}
