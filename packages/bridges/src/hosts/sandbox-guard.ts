// What a sandboxed Node host loads before its program: it takes away two ways past Node's permission model, found on Node 24.
//   cpSync              copies a folder without asking about the links in it; with a filter it asks for each.
//   setFlagsFromString  V8 writes its traces to any file that a flag names.
// A program cannot get the originals back: they are in no object that it reaches, `process.binding` and worker threads are denied.

const GUARD = `
import fs from "node:fs";
import v8 from "node:v8";
import { syncBuiltinESMExports } from "node:module";
const copy = fs.cpSync;
const all = () => true;
fs.cpSync = (from, to, options) => copy(from, to, { ...options, filter: options?.filter ?? all });
v8.setFlagsFromString = () => {
  const error = new Error("a sandboxed host cannot set flags of V8");
  error.code = "ERR_ACCESS_DENIED";
  throw error;
};
syncBuiltinESMExports();`;

/** Options for Node. `node:sqlite` opens any file of the user, so there is none; V8's flags are frozen, should the guard be passed. */
export const GUARD_ARGS: readonly string[] = [
  "--no-experimental-sqlite",
  "--freeze-flags-after-init",
  `--import=data:text/javascript,${encodeURIComponent(GUARD)}`,
];
