// What one kind of request may do: which hosts, which ports, how many redirects, how much and how long. Model endpoints, API
// tools and webhooks each have a policy. Without settings, no address may be reached.

import { UsageError } from "@toolplane/protocol";
import type { AllowedOrigin } from "./allowed-origin.ts";
import { parseHostPattern } from "./host-name.ts";

export interface EgressLimits {
  /** Of the headers of an answer. */
  readonly headerBytes: number;
  /** Of the body of an answer, as it travels and again when it is unpacked. */
  readonly bodyBytes: number;
  readonly connectMs: number;
  /** Between two signs of life. */
  readonly idleMs: number;
  /** From the request to the last byte of the answer, redirects included. */
  readonly totalMs: number;
}

export interface EgressPolicy {
  /** Patterns of host names; `any`: every host with public addresses, and what `allow` names. */
  readonly hosts: "any" | readonly string[];
  /** Ports of https besides 443. */
  readonly ports: readonly number[];
  /** From the operator of the plane, never from a project: plain http, other ports and local addresses. */
  readonly allow: readonly AllowedOrigin[];
  /** How many are followed. With 0 the redirect itself is the answer. */
  readonly redirects: number;
  readonly limits: EgressLimits;
}

const DEFAULT_LIMITS: EgressLimits = {
  headerBytes: 32 * 1024,
  bodyBytes: 16 * 1024 * 1024,
  connectMs: 10_000,
  idleMs: 60_000,
  totalMs: 120_000,
};

/** More than any well-kept site needs; browsers stop at 20. */
const MAX_REDIRECTS = 20;

export interface PolicyOptions extends Partial<Omit<EgressPolicy, "limits">> {
  readonly limits?: Partial<EgressLimits> | undefined;
}

export const createPolicy = ({
  hosts = [],
  ports = [],
  allow = [],
  redirects = 0,
  limits,
}: PolicyOptions = {}): EgressPolicy => {
  if (!Number.isInteger(redirects) || redirects < 0 || redirects > MAX_REDIRECTS)
    throw new UsageError(`redirects is a whole number from 0 to ${MAX_REDIRECTS}`);
  const merged = { ...DEFAULT_LIMITS, ...limits };
  for (const [name, value] of Object.entries(merged))
    if (!(value > 0 && Number.isFinite(value))) throw new UsageError(`the limit ${name} is a number above 0`);
  return { hosts: hosts === "any" ? hosts : hosts.map(parseHostPattern), ports, allow, redirects, limits: merged };
};
