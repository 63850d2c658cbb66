// Where ids, randomness and hashes come from.

import { createHash } from "node:crypto";
import type { HashText } from "@toolplane/protocol";

export { createIds, type Ids } from "@toolplane/bus/ports";

/** A number in [0, 1); spreads the retries of many services that lost the same server. */
export type Random = () => number;

export const sha256: HashText = (text) => createHash("sha256").update(text).digest("hex");
