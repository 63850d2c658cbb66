// Where the server of a data directory listens: <data>/address, for commands that are run beside it. Written when the server is
// ready, removed when it stops; after a kill it may be stale, and the next start replaces it.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const addressPath = (dataDir: string): string => join(dataDir, "address");

/** `host:port` as an address that a program of this machine can use: a server that listens everywhere is reached over loopback. */
export const reachable = (address: string): string => {
  const url = new URL(`http://${address}`);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.origin;
};

/** Returns the way to take it back. */
export const writeAddressFile = (dataDir: string, address: string): (() => void) => {
  const path = addressPath(dataDir);
  writeFileSync(path, `${reachable(address)}\n`, { mode: 0o600 });
  return () => rmSync(path, { force: true });
};
