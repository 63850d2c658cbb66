import { killedEverything } from "./killed-everything.ts";

killedEverything("nats");
