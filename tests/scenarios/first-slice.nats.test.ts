import { firstSlice } from "./first-slice.ts";

firstSlice("nats");
