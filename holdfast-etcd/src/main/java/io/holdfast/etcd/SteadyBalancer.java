// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.SynchronizationContext.ScheduledHandle;
import io.grpc.util.ForwardingLoadBalancerHelper;
import io.grpc.util.ForwardingSubchannel;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * gRPC's {@code round_robin}, but a member that is away is tried again at an even pace. gRPC waits longer after each try,
 * up to two minutes, and has no setting for it: after a long outage locks would come back that much later than the
 * servers. A connection whose try has failed is therefore replaced by a new one, whose waiting begins anew.
 */
final class SteadyBalancer extends LoadBalancerProvider {
  private static final String NAME = "holdfast_steady_round_robin";
  private static final long PAUSE_MILLIS = 1000;

  /** A server that takes a connection, but says nothing on it, is given up after so long. */
  private static final long SILENCE_MILLIS = 10_000;

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

    Helper(LoadBalancer.Helper channel) {
      this.channel = channel;
    }

    @Override
    protected LoadBalancer.Helper delegate() {
      return channel;
    }

    @Override
    public LoadBalancer.Subchannel createSubchannel(LoadBalancer.CreateSubchannelArgs args) {
      return new Member(channel, args);
    }
  }

  /** The connections to one member, one after the other. All methods but {@code delegate} are called one at a time. */
  private static final class Member extends ForwardingSubchannel {
    private final LoadBalancer.Helper channel;
    private LoadBalancer.CreateSubchannelArgs args;
    private volatile LoadBalancer.Subchannel current;
    private LoadBalancer.@Nullable SubchannelStateListener listener;
    private @Nullable ScheduledHandle next;

    Member(LoadBalancer.Helper channel, LoadBalancer.CreateSubchannelArgs args) {
      this.channel = channel;
      this.args = args;
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
        case TRANSIENT_FAILURE -> replaceIn(PAUSE_MILLIS);
        case CONNECTING -> replaceIn(SILENCE_MILLIS);
        default -> {
          // it works, or is not wanted
        }
      }
    }

    private void replaceIn(long millis) {
      next = channel
          .getSynchronizationContext()
          .schedule(
              this::replace, millis, TimeUnit.MILLISECONDS, channel.getScheduledExecutorService());
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
      current.shutdown();
    }
  }
}
