// How names become addresses. A name for which no server answers must not delay other work. The system's resolver would: it keeps
// one of the process's four threads until it gives up, and all projects need these threads for names and files.
//   RH1. The hosts file comes first, then DNS, which takes no thread. Only names that DNS does not have, and names of this machine
//        or network, are left to the system's resolver: search domains and mDNS are known to it alone.
//   RH2. The system's resolver has two threads at most, and one name has one of them. Both stay counted until it gives up.
//   RH3. A lookup ends after some seconds, with an error that says so. Requests that ask for the same name share it.

import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { isRecord, ToolplaneError } from "@toolplane/protocol";

/** Every address of a host; rejects when the name is not known. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface NameSources {
  /** The text of the hosts file. Where it cannot be read, the system's resolver still knows it. */
  readonly hosts: () => Promise<string>;
  readonly dns: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** The system's resolver; a lookup cannot be stopped. */
  readonly system: ResolveHost;
  readonly limitMs: number;
}

/** Shorter than the time for a connection, so that the error names the lookup. */
const LIMIT_MS = 8_000;
const DNS_WAIT_MS = 2_000;
const DNS_TRIES = 2;
/** Of libuv's four threads. */
const SYSTEM_LOOKUPS = 2;

/** DNS does not have the name, or there is no DNS. A server that stays silent is not among them: the system would wait for it too. */
const LEFT_TO_SYSTEM: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED"]);
const isLeftToSystem = (error: unknown): boolean => isRecord(error as object) && LEFT_TO_SYSTEM.has(codeOf(error));
const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

/** A short name, a name of this machine or one of mDNS. */
const isNearName = (host: string): boolean => !host.includes(".") || /\.local(?:host)?$/u.test(host);

const addressesIn = (hosts: string, host: string): readonly string[] =>
  hosts.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/u, "").trim().split(/\s+/u);
    return isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });

/** A resolver of its own for each name: it can be stopped alone, and knows the servers of now. */
const askDns: NameSources["dns"] = async (host, signal) => {
  const resolver = new Resolver({ timeout: DNS_WAIT_MS, tries: DNS_TRIES });
  signal.addEventListener("abort", () => resolver.cancel(), { once: true });
  const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = asked.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length > 0) return found;
  const reasons = asked.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []));
  throw reasons.find((reason) => !isLeftToSystem(reason)) ?? reasons[0];
};

const askSystem: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

const createSystemLine = (system: ResolveHost): NameSources["dns"] => {
  const running = new Map<string, Promise<readonly string[]>>();
  const start = (host: string): Promise<readonly string[]> => {
    const asked = system(host).finally(() => running.delete(host));
    running.set(host, asked);
    return asked;
  };
  return async (host, signal) => {
    for (;;) {
      signal.throwIfAborted();
      const same = running.get(host);
      if (same !== undefined) return same;
      if (running.size < SYSTEM_LOOKUPS) return start(host);
      await Promise.race([...running.values()].map((asked) => asked.catch(() => undefined)));
    }
  };
};

/** Rejects when the signal aborts. The work itself goes on, because others may wait for it. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });

export const createResolveHost = ({ hosts, dns, system, limitMs }: NameSources): ResolveHost => {
  const askSlowly = createSystemLine(system);
  const shared = new Map<string, Promise<readonly string[]>>();

  const find = async (host: string, signal: AbortSignal): Promise<readonly string[]> => {
    const listed = addressesIn(await hosts().catch(() => ""), host);
    if (listed.length > 0) return listed;
    if (isNearName(host)) return askSlowly(host, signal);
    return dns(host, signal).catch((error: unknown) => {
      if (isLeftToSystem(error)) return askSlowly(host, signal);
      throw error;
    });
  };

  const ask = async (host: string): Promise<readonly string[]> => {
    const over = new AbortController();
    const timer = setTimeout(() => {
      const why = `no server answered within ${limitMs / 1000} seconds which address ${host} has`;
      over.abort(new ToolplaneError("upstream_unavailable", why, { detail: { host, sent: false } }));
    }, limitMs);
    try {
      return await orAborted(find(host, over.signal), over.signal);
    } finally {
      clearTimeout(timer);
      shared.delete(host);
    }
  };

  return (host) => {
    const known = shared.get(host) ?? ask(host);
    shared.set(host, known);
    return known;
  };
};

/** One for the process, as its threads are. */
export const resolveHost: ResolveHost = createResolveHost({
  hosts: () => readFile("/etc/hosts", "utf8"),
  dns: askDns,
  system: askSystem,
  limitMs: LIMIT_MS,
});
