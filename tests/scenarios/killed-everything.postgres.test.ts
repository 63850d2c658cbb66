import { killedEverything } from "./killed-everything.contract.ts";

killedEverything("postgres");
