// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

/**
 * Advice for a connection that was not made, in the same words for all stores. A message is the cause in the words of the driver
 * or the server, a semicolon, and one of these sentences.
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
      "correct the host's name in the address, or add the name to DNS or to /etc/hosts of this machine";

  /** The server accepts the connection, or nothing refuses it, and no answer comes. */
  public static final String SILENT =
      "check that the server answers other clients, that it is the kind of server that the address names, and that no firewall is in between";

  /** The server closed the connection. */
  public static final String HUNG_UP =
      "read the server's log, or, if this is another kind of server, correct host and port in the address";

  /** The answer is not in the protocol of the store. */
  public static final String ANOTHER_KIND =
      "correct host and port in the address: another kind of server answers there";

  /** Each of several servers has another trouble. */
  public static final String SEVERAL =
      "make sure that one of these servers answers, or correct the address";

  /** The server's certificate is of an authority that is not trusted. */
  public static final String AUTHORITY =
      "name the authority that issued the server's certificate with holdfast.tls-ca";

  /** The server does not trust the client's certificate, or wants one and got none. */
  public static final String CLIENT_CERTIFICATE =
      "name a certificate that the server trusts, and its key, with holdfast.tls-cert and holdfast.tls-key";

  /** Of several servers too few run. */
  public static final String MAJORITY =
      "start a majority of the servers, and check that they reach each other";

  private ConnectionAdvice() {}
}
