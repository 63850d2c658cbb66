// How names become addresses: by the system's resolver, including its hosts file.

import { lookup } from "node:dns/promises";

/** Every address of a host; rejects when the name is not known. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};
