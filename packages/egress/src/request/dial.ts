// Opens a connection to checked addresses. The socket gets the addresses and resolves no name; TLS checks the name.

import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { CheckedAddress } from "../policy/plan-addresses.ts";

export interface DialRequest {
  readonly connection: buildConnector.Options;
  /** The name or address that was asked for. */
  readonly host: string;
  readonly checked: readonly CheckedAddress[];
  readonly timeoutMs: number;
}

export interface Dialed {
  readonly socket: Socket;
  /** The address at its other end. */
  readonly reached: string | undefined;
}

export type Dial = (request: DialRequest) => Promise<Dialed>;

export interface DialOptions {
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string | undefined;
}

const lookupOf =
  (checked: readonly CheckedAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = checked;
    if (all === true) done(null, [...checked]);
    else if (first !== undefined) done(null, first.address, first.family);
  };

export const createDial =
  ({ ca }: DialOptions = {}): Dial =>
  ({ connection, host, checked, timeoutMs }) => {
    const tls = ca === undefined ? {} : { ca };
    const connect = buildConnector({ timeout: timeoutMs, lookup: lookupOf(checked), ...tls });
    // The name comes from the URL alone: a Host header must not choose which certificate is accepted.
    const { servername: _fromHeader, ...rest } = connection;
    const named = isIP(host) === 0 ? { ...rest, servername: host } : rest;
    return new Promise((dialed, failed) => {
      connect(named, (error, socket) =>
        error === null ? dialed({ socket, reached: socket.remoteAddress }) : failed(error),
      );
    });
  };
