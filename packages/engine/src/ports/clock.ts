// The clock port: local timers only. Durable deadlines are the database's (architecture: storage), so a jump of this
// clock can delay a watchdog's tick but never move a deadline.

export { type Clock, createWaker, inTime, LATE, systemClock, WAIT_OVER } from "@toolplane/bus/ports";
