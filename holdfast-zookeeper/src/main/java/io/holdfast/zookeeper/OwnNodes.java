// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** Finds the nodes of this client, so that those that nobody knows of can be taken away. */
final class OwnNodes {
  private final ZooKeeperContext context;
  private final Map<ClaimId, OwnClaim> claims;

  OwnNodes(ZooKeeperContext context, Map<ClaimId, OwnClaim> claims) {
    this.context = context;
    this.claims = claims;
  }

  /** Returns the claims of this client that its sessions have in the store. */
  CompletionStage<Map<ClaimId, LockKey>> list() {
    List<CompletableFuture<Map<ClaimId, LockKey>>> all = new ArrayList<>();
    for (ZooKeeperSession session : context.sessions().all()) {
      Link link = session.link();
      if (link != null) {
        // not all at once: the client takes no answer of more than a megabyte
        for (int bucket = 0; bucket < ZooKeeperPaths.BUCKETS; bucket++) {
          all.add(link.ephemerals(context.paths().bucket(bucket))
              .thenCompose(found -> named(link, found)));
        }
      }
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(nothing -> {
      Map<ClaimId, LockKey> own = new HashMap<>();
      all.forEach(each -> own.putAll(each.join()));
      return own;
    });
  }

  private CompletableFuture<Map<ClaimId, LockKey>> named(Link link, Reply<List<String>> found) {
    if (!found.isOk()) {
      return CompletableFuture.failedFuture(
          ZooKeeperErrors.of("could not list this client's claims", found));
    }
    Map<ClaimId, LockKey> own = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> unknown = new ArrayList<>();
    for (String path : found.get()) {
      LockNode.parse(ZooKeeperPaths.last(path)).map(LockNode::claim).ifPresent(id -> {
        OwnClaim known = claims.get(id);
        if (known != null) {
          own.put(id, known.claim.name());
        } else if (id.client().equals(context.runtime().client())) {
          unknown.add(link.data(ZooKeeperPaths.parent(path), null).thenAccept(folder -> {
            if (folder.isOk()) {
              own.put(id, LockKey.of(NodeData.text(folder.get().bytes())));
            }
          }));
        }
      });
    }
    return CompletableFuture.allOf(unknown.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> own);
  }
}
