// Ends the process, whatever is still open. `process.exit` alone hangs now and then: Node waits there for its threads, and one that compiles
// may wait for a collection of garbage, which never comes when no JavaScript runs any more (nodejs/node#54918). So the garbage is collected
// first.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** @param {number} code */
export const exitNow = (code) => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  process.exit(code);
};
