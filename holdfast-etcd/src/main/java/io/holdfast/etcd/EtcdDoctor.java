// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.maintenance.AlarmMember;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.SizeText;
import io.holdfast.spi.StoreException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at the cluster with an operator's eyes: its members one by one, alarms, versions, and rights. */
final class EtcdDoctor {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  /** An election may be going on. */
  private static final Duration MAJORITY = Duration.ofSeconds(5);

  private final EtcdContext context;
  private final boolean tls;

  EtcdDoctor(EtcdContext context, boolean tls) {
    this.context = context;
    this.tls = tls;
  }

  CompletableFuture<List<Finding>> look() {
    Client client = context.calls.client();
    long before = context.runtime.ticker().nanos();
    return reach(before)
        .thenCombine(rights(), EtcdDoctor::joined)
        .thenCombine(members(client), EtcdDoctor::joined)
        .thenCombine(alarms(client), EtcdDoctor::joined)
        .thenApply(findings -> {
          List<Finding> all = new ArrayList<>(findings);
          all.add(
              tls
                  ? new Finding(Level.OK, "encryption", "TLS", "")
                  : new Finding(
                      Level.WARNING,
                      "encryption",
                      "none",
                      "use etcds:// wherever the network is not yours alone"));
          return all;
        });
  }

  private static List<Finding> joined(List<Finding> one, List<Finding> other) {
    List<Finding> all = new ArrayList<>(one);
    all.addAll(other);
    return all;
  }

  /**
   * A read that a majority agrees to. Without a majority the members are looked at all the same; another failure, as of a
   * login, is that of the whole.
   */
  private CompletableFuture<List<Finding>> reach(long before) {
    return context
        .calls
        .get(context.keys.under(""), EtcdContext.FIRST_KEY)
        .orTimeout(MAJORITY.toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(seen -> {
          long micros = (context.runtime.ticker().nanos() - before) / 1000;
          return List.of(
              new Finding(Level.OK, "reach", "a majority answers, in " + micros + " us", ""));
        })
        .exceptionallyCompose(failure -> {
          Throwable cause = cause(failure);
          boolean refused =
              cause instanceof StoreException known && known.reason() != Reason.UNREACHABLE;
          return refused
              ? CompletableFuture.failedFuture(cause)
              : CompletableFuture.completedFuture(List.of(new Finding(
                  Level.PROBLEM,
                  "reach",
                  "no majority answers" + said(cause),
                  "no lock can be had until more than half of the members see each other")));
        });
  }

  /** Asks for the right to write, in a transaction whose condition never holds: nothing is written. */
  private CompletableFuture<List<Finding>> rights() {
    ByteSequence lock = context.keys.under("");
    ByteSequence epoch = context.keys.epoch(0);
    String begin = context.keys.prefix();
    return context
        .calls
        .txn(
            List.of(new Cmp(lock, Cmp.Op.LESS, CmpTarget.version(0))),
            List.of(put(lock), put(epoch)),
            List.of())
        .orTimeout(MAJORITY.toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(asked ->
            List.of(new Finding(Level.OK, "rights", "may write what begins with " + begin, "")))
        .exceptionally(failure ->
            cause(failure) instanceof StoreException known && known.reason() == Reason.REFUSED
                ? List.of(new Finding(
                    Level.PROBLEM,
                    "rights",
                    "may not write what begins with " + begin,
                    "etcdctl role grant-permission ROLE readwrite --prefix " + begin))
                : List.of(unseen("rights", failure)));
  }

  private static Op put(ByteSequence key) {
    return Op.put(key, ByteSequence.EMPTY, PutOption.DEFAULT);
  }

  private CompletableFuture<List<Finding>> members(Client client) {
    return context
        .calls
        .ask(() -> client.getClusterClient().listMember())
        .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .thenCompose(list -> {
          List<CompletableFuture<List<Finding>>> each = new ArrayList<>();
          list.getMembers().forEach(member -> each.add(member(client, member)));
          CompletableFuture<List<Finding>> all =
              CompletableFuture.completedFuture(List.of(count(list.getMembers().size())));
          for (CompletableFuture<List<Finding>> next : each) {
            all = all.thenCombine(next, EtcdDoctor::joined);
          }
          return all;
        })
        .exceptionally(failure -> List.of(unseen("members", failure)));
  }

  private static Finding count(int members) {
    return members >= 3
        ? new Finding(Level.OK, "members", Integer.toString(members), "")
        : new Finding(
            Level.WARNING,
            "members",
            Integer.toString(members),
            "three or more go on when one fails; fewer do not");
  }

  private CompletableFuture<List<Finding>> member(Client client, Member member) {
    String subject = "member " + (member.getName().isEmpty() ? "(new)" : member.getName());
    if (member.getClientURIs().isEmpty()) {
      return CompletableFuture.completedFuture(List.of(
          new Finding(Level.PROBLEM, subject, "has not started", "start it, or remove it")));
    }
    URI uri = member.getClientURIs().get(0);
    String target = "ip:///" + uri.getHost() + ":" + uri.getPort();
    return context
        .calls
        .ask(() -> client.getMaintenanceClient().statusMember(target))
        .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .handle((status, failure) -> status(subject, member, status, failure));
  }

  private static List<Finding> status(
      String subject, Member member, @Nullable StatusResponse status, @Nullable Throwable failure) {
    if (status == null) {
      String why = failure == null ? "" : said(cause(failure));
      return List.of(
          new Finding(Level.PROBLEM, subject, "does not answer" + why, "look at that machine"));
    }
    List<Finding> findings = new ArrayList<>();
    boolean leads = status.getLeader() == member.getId();
    findings.add(
        status.getLeader() == 0
            ? new Finding(
                Level.PROBLEM, subject, "knows no leader", "is it cut off from the others?")
            : new Finding(
                Level.OK,
                subject,
                "etcd " + status.getVersion() + (leads ? ", the leader" : "")
                    + (member.isLearner() ? ", a learner" : "") + ", "
                    + SizeText.of(status.getDbSize()),
                ""));
    status
        .getErrorList()
        .forEach(error ->
            findings.add(new Finding(Level.WARNING, subject, error, "see the server's log")));
    if (endsLeasesEarly(status.getVersion())) {
      findings.add(new Finding(
          Level.WARNING,
          subject,
          "may end leases early (etcd issue 15247)",
          "use 3.4.31, 3.5.13 or a later version"));
    }
    return findings;
  }

  /**
   * Whether a former leader of this version may end leases that the next one has renewed, and may confirm renewals that
   * the next one never hears of: until etcd's pull request 16822 it did not ask whether it still is the leader.
   */
  static boolean endsLeasesEarly(String version) {
    Matcher parts = VERSION.matcher(version);
    if (!parts.matches()) {
      return false;
    }
    int major = Integer.parseInt(parts.group(1));
    int minor = Integer.parseInt(parts.group(2));
    int patch = Integer.parseInt(parts.group(3));
    return major == 3 && (minor < 4 || (minor == 4 && patch < 31) || (minor == 5 && patch < 13));
  }

  private CompletableFuture<List<Finding>> alarms(Client client) {
    return context
        .calls
        .ask(() -> client.getMaintenanceClient().listAlarms())
        .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(answer -> {
          List<Finding> findings = new ArrayList<>();
          for (AlarmMember each : answer.getAlarms()) {
            findings.add(new Finding(
                Level.PROBLEM,
                "alarm",
                each.getAlarmType() + " at member " + Long.toHexString(each.getMemberId()),
                "see to it, then disarm it: etcdctl alarm disarm"));
          }
          if (findings.isEmpty()) {
            findings.add(new Finding(Level.OK, "alarms", "none", ""));
          }
          return findings;
        })
        .exceptionally(failure -> List.of(unseen("alarms", failure)));
  }

  private static Throwable cause(Throwable failure) {
    Throwable behind = failure.getCause();
    return failure instanceof CompletionException && behind != null ? behind : failure;
  }

  private static String said(Throwable failure) {
    return failure instanceof TimeoutException ? " in time" : ": " + failure.getMessage();
  }

  private static Finding unseen(String subject, Throwable failure) {
    return new Finding(
        Level.WARNING,
        subject,
        "could not be seen" + said(cause(failure)),
        "the locks do not need it; doctor does (a user with the role root sees all)");
  }
}
