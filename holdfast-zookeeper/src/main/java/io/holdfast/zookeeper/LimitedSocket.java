// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * A socket whose reads may take so long all together, and not each of them: a server that sends a byte now and then would
 * otherwise be listened to for ever. A TLS handshake on top of it reads here, too.
 */
final class LimitedSocket extends Socket {
  private final Duration patience;
  private final Ticker ticker;

  LimitedSocket(Duration patience, Ticker ticker) {
    this.patience = patience;
    this.ticker = ticker;
  }

  /** The time counts from this call. Once it is over, a read gets what has arrived, or a {@link SocketTimeoutException}. */
  @Override
  public InputStream getInputStream() throws IOException {
    return new Limited(super.getInputStream());
  }

  /** What the server sends, up to the limit. */
  private final class Limited extends FilterInputStream {
    private final Moment begun = ticker.now();

    Limited(InputStream all) {
      super(all);
    }

    @Override
    public int read() throws IOException {
      limit();
      return super.read();
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      limit();
      return super.read(into, offset, length);
    }

    private void limit() throws IOException {
      Duration left = patience.minusNanos(ticker.elapsedNanos(begun));
      // 0 would be no limit. A process that stood still has the answer before it, and has only to read it
      setSoTimeout((int) Math.max(1, left.toMillis()));
    }
  }
}
