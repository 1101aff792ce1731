// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

/**
 * What to do about a connection that was not made: the same words on every store, for what every store can meet. A message is
 * the cause in the driver's or the server's words, then a semicolon, then one of these.
 *
 * <pre>{@code
 * throw new StoreException(
 *     store + ": " + e.getMessage() + "; " + ConnectionAdvice.START, Reason.UNREACHABLE, true, e);
 * }</pre>
 */
public final class ConnectionAdvice {
  /** The port is closed, or there is no way to the host. */
  public static final String START = "start the server, or correct host and port in the address";

  /** The host's name is not known. */
  public static final String HOST =
      "correct the host's name in the address, or let this machine's name service know it";

  /** The connection was made, or is being made, and nothing is answered. */
  public static final String SILENT =
      "find out whether this server answers its other clients, is of the kind that the address names, and is not behind a firewall";

  /** The server closed the connection. */
  public static final String HUNG_UP =
      "read the server's log, or correct host and port in the address if this is another kind of server";

  /** What was answered is not in the protocol of the store. */
  public static final String ANOTHER_KIND =
      "correct host and port in the address: what answers there is another kind of server";

  private ConnectionAdvice() {}
}
