// The decisions of the egress guard without the network: for configuration and registration, which load no HTTP client.

export { type AllowedOrigin, parseAllowedOrigin } from "./allowed-origin.ts";
export { hostOf, matchesHost, parseHostPattern } from "./host-name.ts";
export { planTarget } from "./plan-target.ts";
export { createPolicy, type EgressPolicy } from "./policy.ts";
