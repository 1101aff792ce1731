// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.Status;
import io.grpc.SynchronizationContext.ScheduledHandle;
import io.grpc.util.ForwardingLoadBalancerHelper;
import io.grpc.util.ForwardingSubchannel;
import io.holdfast.spi.DurationText;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * gRPC's {@code round_robin}, but a member that is away is tried again at an even pace. gRPC waits longer after each try,
 * up to two minutes, and has no setting for it: after a long outage locks would come back that much later than the
 * servers. A connection whose try has failed is therefore replaced by a new one, whose waiting begins anew. While no member is
 * connected, requests fail with {@link NotConnected}, which says what each of them said.
 */
final class SteadyBalancer extends LoadBalancerProvider {
  private static final String NAME = "holdfast_steady_round_robin";
  private static final long PAUSE_MILLIS = 1000;

  /** For so long a request waits for a server that takes a connection, but says nothing on it. */
  private static final Duration SILENCE = Duration.ofMillis(4_500);

  /** After so long more such a connection is given up. */
  private static final long LONGER_MILLIS = 5_500;

  private static final Status SILENT =
      Status.UNAVAILABLE.withDescription(ConnectionTrouble.SILENCE + DurationText.of(SILENCE));

  static {
    LoadBalancerRegistry.getDefaultRegistry().register(new SteadyBalancer());
  }

  private SteadyBalancer() {}

  /** Returns the name that gRPC finds it by. */
  static String policy() {
    return NAME;
  }

  @Override
  public boolean isAvailable() {
    return true;
  }

  @Override
  public int getPriority() {
    return 5;
  }

  @Override
  public String getPolicyName() {
    return NAME;
  }

  @Override
  public LoadBalancer newLoadBalancer(LoadBalancer.Helper helper) {
    LoadBalancerProvider inTurn = Objects.requireNonNull(
        LoadBalancerRegistry.getDefaultRegistry().getProvider("round_robin"), "round_robin");
    return inTurn.newLoadBalancer(new Helper(helper));
  }

  private static final class Helper extends ForwardingLoadBalancerHelper {
    private final LoadBalancer.Helper channel;
    private final Set<Member> members = new CopyOnWriteArraySet<>();

    Helper(LoadBalancer.Helper channel) {
      this.channel = channel;
    }

    @Override
    protected LoadBalancer.Helper delegate() {
      return channel;
    }

    @Override
    public LoadBalancer.Subchannel createSubchannel(LoadBalancer.CreateSubchannelArgs args) {
      Member made = new Member(channel, args, members);
      members.add(made);
      return made;
    }

    @Override
    public void updateBalancingState(
        ConnectivityState state, LoadBalancer.SubchannelPicker picker) {
      channel.updateBalancingState(
          state,
          state == ConnectivityState.TRANSIENT_FAILURE ? new Refuser(picker, members) : picker);
    }
  }

  /** Tells the requests that are not sent because no member is connected why that is so. */
  private static final class Refuser extends LoadBalancer.SubchannelPicker {
    private final LoadBalancer.SubchannelPicker picker;
    private final Set<Member> members;

    Refuser(LoadBalancer.SubchannelPicker picker, Set<Member> members) {
      this.picker = picker;
      this.members = members;
    }

    @Override
    public LoadBalancer.PickResult pickSubchannel(LoadBalancer.PickSubchannelArgs args) {
      LoadBalancer.PickResult picked = picker.pickSubchannel(args);
      if (picked.getStatus().isOk()) {
        return picked;
      }
      List<ConnectionTrouble.Met> met = new ArrayList<>();
      members.forEach(each -> each.met().ifPresent(met::add));
      if (met.isEmpty()) {
        met.add(new ConnectionTrouble.Met("", picked.getStatus().asException()));
      }
      return LoadBalancer.PickResult.withError(Status.UNAVAILABLE.withCause(new NotConnected(met)));
    }
  }

  /** The connections to one member, one after the other. All methods but {@code delegate} are called one at a time. */
  private static final class Member extends ForwardingSubchannel {
    private final LoadBalancer.Helper channel;
    private volatile LoadBalancer.CreateSubchannelArgs args;
    private volatile LoadBalancer.Subchannel current;
    private LoadBalancer.@Nullable SubchannelStateListener listener;
    private @Nullable ScheduledHandle next;
    private final Set<Member> members;
    private volatile @Nullable Status failure;

    /** Makes one that takes itself out of the members when it is shut down. */
    Member(
        LoadBalancer.Helper channel, LoadBalancer.CreateSubchannelArgs args, Set<Member> members) {
      this.channel = channel;
      this.args = args;
      this.members = members;
      this.current = channel.createSubchannel(args);
    }

    @Override
    protected LoadBalancer.Subchannel delegate() {
      return current;
    }

    @Override
    public void start(LoadBalancer.SubchannelStateListener told) {
      listener = told;
      begin(told);
    }

    private void begin(LoadBalancer.SubchannelStateListener told) {
      LoadBalancer.Subchannel begun = current;
      begun.start(info -> {
        if (begun.equals(current)) {
          changed(info);
          told.onSubchannelState(info);
        }
      });
    }

    private void changed(ConnectivityStateInfo info) {
      cancel();
      switch (info.getState()) {
        case TRANSIENT_FAILURE -> {
          failure = info.getStatus();
          next = schedule(this::replace, PAUSE_MILLIS);
        }
        case CONNECTING -> next = schedule(this::silent, SILENCE.toMillis());
        case READY -> failure = null;
        default -> {
          // it is not wanted
        }
      }
    }

    private ScheduledHandle schedule(Runnable task, long millis) {
      return channel
          .getSynchronizationContext()
          .schedule(task, millis, TimeUnit.MILLISECONDS, channel.getScheduledExecutorService());
    }

    /** Requests are not kept waiting any longer; the server may still answer. */
    private void silent() {
      failure = SILENT;
      next = schedule(this::replace, LONGER_MILLIS);
      LoadBalancer.SubchannelStateListener told = listener;
      if (told != null) {
        told.onSubchannelState(ConnectivityStateInfo.forTransientFailure(SILENT));
      }
    }

    /** What the last attempt to connect met; empty if there was none that failed since the last connection. */
    Optional<ConnectionTrouble.Met> met() {
      return Optional.ofNullable(failure)
          .map(status -> new ConnectionTrouble.Met(at(), status.asException()));
    }

    private String at() {
      return args.getAddresses().get(0).getAddresses().get(0) instanceof InetSocketAddress address
          ? address.getHostString() + ":" + address.getPort()
          : "";
    }

    private void replace() {
      LoadBalancer.SubchannelStateListener told = listener;
      if (told == null) {
        return;
      }
      LoadBalancer.Subchannel old = current;
      current = channel.createSubchannel(args);
      begin(told);
      current.requestConnection();
      old.shutdown();
    }

    private void cancel() {
      ScheduledHandle planned = next;
      next = null;
      if (planned != null) {
        planned.cancel();
      }
    }

    @Override
    public void updateAddresses(List<EquivalentAddressGroup> addresses) {
      args = args.toBuilder().setAddresses(addresses).build();
      current.updateAddresses(addresses);
    }

    @Override
    public void shutdown() {
      cancel();
      listener = null;
      members.remove(this);
      current.shutdown();
    }
  }
}
