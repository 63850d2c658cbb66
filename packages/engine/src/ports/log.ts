// The log port.

export { type Log, type LogFields, silentLog } from "@toolplane/bus/ports";
