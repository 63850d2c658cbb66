// Where ids, randomness and hashes come from.

export { createIds, type Ids, sha256 } from "@toolplane/bus/ports";

/** A number in [0, 1); spreads the retries of many services that lost the same server. */
export type Random = () => number;
