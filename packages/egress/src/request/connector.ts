// Connections go only to addresses that were checked. The name is resolved once per connection, here; nothing below resolves it
// again, so a resolver that changes its answer cannot lead a request elsewhere (DNS rebinding).

import { isIP, type Socket } from "node:net";
import { ToolplaneError } from "@toolplane/protocol";
import type { buildConnector } from "undici";
import { tryClassifyAddress } from "../addresses/classify-address.ts";
import { type CheckedAddress, planAddresses } from "../policy/plan-addresses.ts";
import { planTarget } from "../policy/plan-target.ts";
import type { EgressPolicy } from "../policy/policy.ts";
import type { Dial } from "./dial.ts";
import type { ResolveHost } from "./resolve-host.ts";

export interface ConnectorOptions {
  readonly policy: EgressPolicy;
  readonly resolve: ResolveHost;
  readonly dial: Dial;
}

const canonical = (address: string | undefined): string | undefined => tryClassifyAddress(address ?? "")?.address;

const isAmong = (reached: string | undefined, checked: readonly CheckedAddress[]): boolean =>
  canonical(reached) !== undefined && checked.some(({ address }) => canonical(address) === canonical(reached));

export const createConnector = ({ policy, resolve, dial }: ConnectorOptions): buildConnector.connector => {
  const open = async (connection: buildConnector.Options): Promise<Socket> => {
    const target = planTarget(`${connection.protocol}//${connection.host ?? connection.hostname}`, policy);
    const { host } = target.origin;
    const checked = planAddresses(isIP(host) === 0 ? await resolve(host) : [host], target);
    const { socket, reached } = await dial({ connection, host, checked, timeoutMs: policy.limits.connectMs });
    if (isAmong(reached, checked)) return socket;
    // A second check, on the connection itself: if the socket ended elsewhere, nothing is sent.
    socket.destroy();
    throw new ToolplaneError("auth_failed", `the connection to ${host} ended at an address that was not checked`);
  };
  return (connection, callback) => {
    open(connection).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
};
