// The two ends of the protocol as streams, and the guard that keeps all other output out of them.
// The launcher has usually moved the protocol to other descriptors, so that descriptor 1 is the log and needs no guard. Where
// it could not (a sandbox, a system without a shell), every way in which JavaScript writes to 1 is redirected to stderr.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { Readable, Writable } from "node:stream";

export interface HostDescriptors {
  readonly input: number;
  readonly output: number;
}

const isPipe = (descriptor: number): boolean => {
  const found = fs.fstatSync(descriptor);
  return found.isFIFO() || found.isSocket();
};

export const openInput = (descriptor: number): Readable =>
  isPipe(descriptor)
    ? new net.Socket({ fd: descriptor, readable: true, writable: false })
    : fs.createReadStream("", { fd: descriptor });

export const openOutput = (descriptor: number): Writable =>
  isPipe(descriptor)
    ? new net.Socket({ fd: descriptor, readable: false, writable: true })
    : fs.createWriteStream("", { fd: descriptor });

const STDOUT = 1;
const STDERR = 2;

/**
 * Sends to stderr what JavaScript writes to stdout through process.stdout or fs. A socket opened on descriptor 1 and children of the plugin
 * are not covered.
 */
export const divertStdout = (): void => {
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => process.stderr });
  for (const name of ["write", "writeSync", "writev", "writevSync"] as const) {
    const original = fs[name] as (descriptor: number, ...rest: unknown[]) => unknown;
    const diverted = (descriptor: number, ...rest: unknown[]): unknown =>
      original(descriptor === STDOUT ? STDERR : descriptor, ...rest);
    Object.assign(fs, { [name]: diverted });
  }
  syncBuiltinESMExports();
};
