// What a sandboxed Node host loads before its program: it takes away three ways past Node's permission model, found on Node 24.
//   cpSync              copies a folder without asking about the links in it; with a filter it asks for each.
//   setFlagsFromString  V8 writes its traces to any file that a flag names.
//   bind of a pipe      the file of a Unix socket is made in any folder of the user. An empty file can do harm: a database that
//                       finds `standby.signal` in its folder does not start. Every way to make such a file ends in this bind.
// A program cannot get the originals back: they are in no object that it reaches, `process.binding` and worker threads are denied.

const GUARD = `
import fs from "node:fs";
import net from "node:net";
import { resolve } from "node:path";
import v8 from "node:v8";
import { syncBuiltinESMExports } from "node:module";
const copy = fs.cpSync;
const all = () => true;
fs.cpSync = (from, to, options) => copy(from, to, { ...options, filter: options?.filter ?? all });
const deny = (what) => {
  const error = new Error("a sandboxed host cannot " + what);
  error.code = "ERR_ACCESS_DENIED";
  throw error;
};
v8.setFlagsFromString = () => deny("set flags of V8");
const probe = new net.Socket().on("error", () => {});
probe.connect({ path: "/nowhere" });
const pipes = probe._handle.constructor.prototype;
probe.destroy();
const { bind } = pipes;
const { apply, defineProperty } = Reflect;
const { permission } = process;
const has = permission.has;
const value = function (path) {
  const at = typeof path === "string" ? resolve(path) : "";
  if (at === "" || apply(has, permission, ["fs.write", at]) !== true) deny("make a socket here");
  return apply(bind, this, [at]);
};
defineProperty(pipes, "bind", { value, writable: false, configurable: false });
syncBuiltinESMExports();`;

/** Options for Node. `node:sqlite` is switched off, because it opens any file of the user. V8's flags are frozen too, in case a program gets around the guard. */
export const GUARD_ARGS: readonly string[] = [
  "--no-experimental-sqlite",
  "--freeze-flags-after-init",
  `--import=data:text/javascript,${encodeURIComponent(GUARD)}`,
];
