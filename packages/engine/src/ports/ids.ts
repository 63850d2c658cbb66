// The id port.

export { createIds, derivedUuid, type Ids, oldestUuidOf, sha256 } from "@toolplane/bus/ports";
