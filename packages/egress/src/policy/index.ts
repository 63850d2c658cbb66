// The decisions of the guard without the network: for configuration and registration, which load no HTTP client.

export { type AddressKind, type ClassifiedAddress, tryClassifyAddress } from "../addresses/classify-address.ts";
export { type AllowedOrigin, parseAllowedOrigin, showOrigin } from "./allowed-origin.ts";
export { hostOf, matchesHost, parseHostPattern } from "./host-name.ts";
export { type CheckedAddress, planAddresses } from "./plan-addresses.ts";
export { type EgressTarget, planTarget } from "./plan-target.ts";
export { createPolicy, DEFAULT_LIMITS, type EgressLimits, type EgressPolicy, type PolicyOptions } from "./policy.ts";
