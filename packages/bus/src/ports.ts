// The ports that every process has: time, ids and the log. They load nothing else.

export { type Clock, createWaker, inTime, LATE, systemClock, WAIT_OVER } from "./clock.ts";
export { createIds, derivedUuid, type Ids, oldestUuidOf, sha256 } from "./ids.ts";
export { type Log, type LogFields, silentLog } from "./log.ts";
