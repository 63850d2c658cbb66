// @toolplane/egress: requests to other machines, held to a policy.

export { type AllowedOrigin, parseAllowedOrigin } from "./policy/allowed-origin.ts";
export { type EgressTarget, planTarget } from "./policy/plan-target.ts";
export {
  createPolicy,
  DEFAULT_LIMITS,
  type EgressLimits,
  type EgressPolicy,
  type PolicyOptions,
} from "./policy/policy.ts";
export { createDial, type Dial, type Dialed, type DialOptions, type DialRequest } from "./request/dial.ts";
export { createEgress, type Egress, type EgressOptions } from "./request/egress.ts";
export { type ResolveHost, resolveHost } from "./request/resolve-host.ts";
