// Where ids, randomness and hashes come from.

import { hash } from "node:crypto";
import type { HashText } from "@toolplane/protocol";

export { createIds, type Ids } from "@toolplane/bus/ports";

/** A number in [0, 1); spreads the retries of many services that lost the same server. */
export type Random = () => number;

export const sha256: HashText = (text) => hash("sha256", text, "hex");
