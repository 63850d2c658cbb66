// Time as a parameter: a test moves it by hand, a program uses the system's.

export { type Clock, createWaker, inTime, LATE, systemClock, WAIT_OVER } from "@toolplane/bus/ports";
