// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Holder;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What is stored under a lock's key, as JSON.
 *
 * @param claim who asked
 * @param name the lock's whole name
 * @param lease the length of its lease
 * @param since when it asked, by the client's clock; for people
 * @param keptUntil until when a finished hold's lock is kept, by the client's clock; for people
 * @param holder who; empty if it is kept
 */
record ConsulValue(
    ClaimId claim,
    LockKey name,
    Duration lease,
    Instant since,
    Optional<Instant> keptUntil,
    Optional<Holder> holder) {
  private static final long FORMAT = 1;

  static ConsulValue held(Claim claim, Instant since) {
    return new ConsulValue(
        claim.id(),
        claim.name(),
        claim.lease(),
        since,
        Optional.empty(),
        Optional.of(claim.holder()));
  }

  static ConsulValue kept(Claim claim, Instant since, Instant until) {
    return new ConsulValue(
        claim.id(), claim.name(), claim.lease(), since, Optional.of(until), Optional.empty());
  }

  boolean isKept() {
    return keptUntil.isPresent();
  }

  String write() {
    return Json.write(json -> {
      json.writeStartObject();
      json.writeNumberProperty("format", FORMAT);
      json.writeStringProperty("claim", claim.toString());
      json.writeStringProperty("lock", name.name());
      json.writeNumberProperty("leaseMillis", lease.toMillis());
      json.writeNumberProperty("sinceMillis", since.toEpochMilli());
      keptUntil.ifPresent(
          until -> json.writeNumberProperty("keptUntilMillis", until.toEpochMilli()));
      holder.ifPresent(who -> {
        json.writeStringProperty("client", who.client());
        json.writeStringProperty("host", who.host());
        json.writeNumberProperty("pid", who.pid());
        json.writeStringProperty("thread", who.thread());
        json.writeStringProperty("note", who.note());
      });
      json.writeEndObject();
    });
  }

  /**
   * Says whether a lock's key holds something else than what Holdfast writes, of whatever version. A newer version's is
   * ours: it is refused where it is read.
   */
  static boolean isForeign(ConsulEntry entry) {
    try {
      return Json.number(Json.read(entry.value()), "format") <= 0;
    } catch (IllegalArgumentException e) {
      return true;
    }
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws StoreException if it is something else: it is never guessed
   */
  static ConsulValue read(ConsulEntry entry) {
    try {
      Object json = Json.read(entry.value());
      if (Json.number(json, "format") == FORMAT) {
        long until = Json.number(json, "keptUntilMillis");
        Holder who = new Holder(
            Json.text(json, "client"),
            Json.text(json, "host"),
            Json.number(json, "pid"),
            Json.text(json, "thread"),
            Json.text(json, "note"));
        return new ConsulValue(
            ClaimId.parse(Json.text(json, "claim")),
            LockKey.of(Json.text(json, "lock")),
            Duration.ofMillis(Json.number(json, "leaseMillis")),
            Instant.ofEpochMilli(Json.number(json, "sinceMillis")),
            until == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(until)),
            until == 0 ? Optional.of(who) : Optional.empty());
      }
    } catch (IllegalArgumentException e) {
      // said below
    }
    throw new StoreException(
        "the key " + entry.key()
            + " holds something that this version does not know; it was left untouched: use a newer version of"
            + " Holdfast, or another holdfast.prefix",
        Reason.DAMAGED,
        false,
        null);
  }
}
