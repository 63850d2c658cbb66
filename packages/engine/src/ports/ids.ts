// The id port.

export { createIds, derivedUuid, type Ids, oldestUuidOf } from "@toolplane/bus/ports";
