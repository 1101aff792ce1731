// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * The watches on nodes: one for each node in a session, however many claims come and go that want to hear of it.
 * ZooKeeper's client keeps every watcher that it was given until the node changes, and a holder may hold for weeks.
 */
final class Watches {
  private final Map<Place, Shared> all = new ConcurrentHashMap<>();

  private record Place(long session, String path) {}

  /** The one watcher of a node that ZooKeeper's client is given. */
  final class Shared implements Watcher {
    private final Place place;
    private final Set<Watcher> members = ConcurrentHashMap.newKeySet();

    private Shared(Place place) {
      this.place = place;
    }

    @Override
    public void process(WatchedEvent event) {
      if (event.getType() == EventType.NodeDeleted) {
        // who comes now finds no node
        all.remove(place, this);
      }
      members.forEach(each -> each.process(event));
    }

    /** Tells it nothing more. */
    void leave(Watcher member) {
      members.remove(member);
    }
  }

  /** Returns what to watch a node with, and tells the member what that hears from now on, until it leaves. */
  Shared join(Link link, String path, Watcher member) {
    return all.compute(new Place(link.sessionId(), path), (place, there) -> {
      Shared shared = there == null ? new Shared(place) : there;
      shared.members.add(member);
      return shared;
    });
  }

  /** The node was not there, and will not come: no path is used twice. */
  void absent(Link link, String path) {
    all.remove(new Place(link.sessionId(), path));
  }

  /** How many nodes are remembered, on all sessions. */
  int remembered() {
    return all.size();
  }

  /** A session is over, and with it its watches. */
  void over(long session) {
    all.keySet().removeIf(place -> place.session() == session);
  }
}
