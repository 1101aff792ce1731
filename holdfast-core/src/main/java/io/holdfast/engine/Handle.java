// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** Tells when a hold's handle was dropped. One that is released first is garbage together with it, and costs nothing. */
final class Handle extends WeakReference<EngineHold> {
  private final Tenure tenure;

  Handle(EngineHold hold, Tenure tenure, ReferenceQueue<EngineHold> dropped) {
    super(hold, dropped);
    this.tenure = tenure;
  }

  /** Releases the holds whose handles were dropped. */
  static void releaseDropped(ReferenceQueue<EngineHold> dropped) {
    for (Reference<? extends EngineHold> old = dropped.poll(); old != null; old = dropped.poll()) {
      if (old instanceof Handle handle) {
        handle.tenure.claimant.dropped(handle.tenure);
      }
    }
  }
}
