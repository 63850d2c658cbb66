// Whether a connection may be made to what a name resolves to. Every address of the answer is checked, not only the first:
// an answer that mixes a public address with a local one is an attack or a mistake.

import { ToolplaneError } from "@toolplane/protocol";
import { tryClassifyAddress } from "../addresses/classify-address.ts";
import { type EgressTarget, refuseForGood, refuseOrigin } from "./plan-target.ts";

export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

const checkAddress = (text: string, { origin, isAllowed }: EgressTarget): CheckedAddress => {
  const known = tryClassifyAddress(text);
  if (known === undefined || known.kind === "never")
    throw refuseForGood(origin, known?.what ?? "an address that cannot be read");
  if (known.kind === "local" && !isAllowed) throw refuseOrigin(origin, `it resolves to ${known.what}`);
  // The connection uses the text that the resolver gave: an IPv4 host behind NAT64 is reached by its IPv6 address.
  return { address: text, family: text.includes(":") ? 6 : 4 };
};

export const planAddresses = (addresses: readonly string[], target: EgressTarget): readonly CheckedAddress[] => {
  if (addresses.length === 0)
    throw new ToolplaneError("upstream_unavailable", `the host ${target.origin.host} has no address`);
  return addresses.map((address) => checkAddress(address, target));
};
