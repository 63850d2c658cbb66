// Connections go to the addresses that were checked. The name is resolved once per connection, here; the socket is given the
// answer and never asks again, so a resolver that changes its answer cannot lead it elsewhere (DNS rebinding). TLS still
// asks for the name.

import { isIP, type LookupFunction, type Socket } from "node:net";
import { ToolplaneError } from "@toolplane/protocol";
import { buildConnector } from "undici";
import { tryClassifyAddress } from "../addresses/classify-address.ts";
import { hostOf } from "../policy/host-name.ts";
import { type CheckedAddress, planAddresses } from "../policy/plan-addresses.ts";
import { type EgressTarget, planTarget } from "../policy/plan-target.ts";
import type { EgressPolicy } from "../policy/policy.ts";
import type { ResolveHost } from "./resolve-host.ts";

export interface ConnectorOptions {
  readonly policy: EgressPolicy;
  readonly resolve: ResolveHost;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
}

const lookupOf =
  (checked: readonly CheckedAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = checked;
    if (all === true) done(null, [...checked]);
    else if (first !== undefined) done(null, first.address, first.family);
  };

const canonical = (address: string): string | undefined => tryClassifyAddress(address)?.address;

/** A second look, at the connection itself: whatever led the socket elsewhere, nothing is sent there. */
const checkSocket = (socket: Socket, checked: readonly CheckedAddress[], { origin }: EgressTarget): void => {
  const reached = canonical(socket.remoteAddress ?? "");
  if (reached !== undefined && checked.some(({ address }) => canonical(address) === reached)) return;
  socket.destroy();
  throw new ToolplaneError("auth_failed", `the connection to ${origin.host} ended at an address that was not checked`);
};

export const createConnector =
  ({ policy, resolve, ca }: ConnectorOptions): buildConnector.connector =>
  (options, callback) => {
    const open = async (): Promise<Socket> => {
      const target = planTarget(`${options.protocol}//${options.host ?? options.hostname}`, policy);
      const host = hostOf(target.url);
      const checked = planAddresses(isIP(host) === 0 ? await resolve(host) : [host], target);
      const connect = buildConnector({
        timeout: policy.limits.connectMs,
        lookup: lookupOf(checked),
        ...(ca === undefined ? {} : { ca }),
      });
      const socket = await new Promise<Socket>((connected, failed) => {
        // The name comes from the address alone: a Host header must not choose whose certificate is accepted.
        const { servername: _fromHeader, ...rest } = options;
        const named = isIP(host) === 0 ? { ...rest, servername: host } : rest;
        connect(named, (error, made) => (error === null ? connected(made) : failed(error)));
      });
      checkSocket(socket, checked, target);
      return socket;
    };
    open().then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
