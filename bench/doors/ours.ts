// Toolplane in the ways people run it: as a library, over HTTP, over NATS, and a whole turn of an agent. With the root of
// another checkout the same programs run on that checkout's packages.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isToolplaneError } from "@toolplane/protocol";
import { checkWhenQuiet, startNats } from "@toolplane/testkit";
import type { Closing, Contestant, Role, Running } from "./contestant.ts";
import { PROJECT } from "./ours/tool.ts";
import { turnDefinitions } from "./ours/turn.ts";
import { launch, type Program, ROOT, startProgram } from "./program.ts";
import { openPostgres, type PostgresStore } from "./stores/postgres.ts";
import { COUNT_OURS } from "./stores/stored.sql.ts";

// Everything has settled when the callers have their answers; messages to NATS may still be on their way.
const QUIET_MS = 30_000;

interface Way {
  readonly key: string;
  readonly name: string;
  readonly shape: Contestant["shape"];
  /** The caller's module in `ours/`. */
  readonly caller: string;
  readonly nats?: boolean;
  readonly settings: string;
}

const ECHO = "tool `retry: safe`, service concurrency 256";

const ON_NATS = "`toolplane up --nats-url`, nats-server with JetStream on disk";

const WAYS: readonly Way[] = [
  {
    key: "library",
    name: "Toolplane as a library",
    shape: "library",
    caller: "library",
    settings: `\`openPlane\` in the caller's process, or the same parts by hand in a checkout without it; ${ECHO}`,
  },
  {
    key: "http-client",
    name: "Toolplane over HTTP, client",
    shape: "apart",
    caller: "by-client",
    settings: `\`toolplane up\`; caller: \`connect()\` of @toolplane/sdk/client; ${ECHO}, over HTTP`,
  },
  {
    key: "http",
    name: "Toolplane over HTTP",
    shape: "apart",
    caller: "over-http",
    settings: `\`toolplane up\`; caller: one request per call, undici Pool; ${ECHO}, over HTTP`,
  },
  {
    key: "nats-client",
    name: "Toolplane over NATS, client",
    shape: "apart",
    caller: "by-client",
    nats: true,
    settings: `${ON_NATS}; caller: \`connect()\` over HTTP; ${ECHO}, over NATS`,
  },
  {
    key: "nats",
    name: "Toolplane over NATS",
    shape: "apart",
    caller: "over-http",
    nats: true,
    settings: `${ON_NATS}; caller over HTTP, one request per call; ${ECHO}, over NATS`,
  },
  {
    key: "turn",
    name: "Toolplane, an agent's turn",
    shape: "turn",
    caller: "turn",
    settings: "`toolplane up`; brain: a script that calls the tool once and finishes; one request per turn",
  },
];

interface Scene {
  readonly way: Way;
  readonly root: string;
  readonly directory: string;
  readonly store: PostgresStore;
  readonly stack: AsyncDisposableStack;
}

interface Plane {
  readonly processes: readonly { readonly role: Role; readonly pid: number }[];
  readonly url: string;
  readonly serviceUrl: string;
  readonly token: string;
}

const writeConfiguration = (directory: string, agents: boolean): string => {
  const config = join(directory, "toolplane.yaml");
  const profile = join(directory, "profile.yaml");
  // JSON is YAML.
  writeFileSync(profile, JSON.stringify(turnDefinitions.profile));
  const more = agents ? { profiles: [profile], agents: turnDefinitions.agents } : {};
  writeFileSync(config, JSON.stringify({ project: PROJECT, ...more }));
  return config;
};

/** `toolplane up` on the contestant's database, and its NATS. */
const startPlane = async ({ way, root, directory, store, stack }: Scene): Promise<Plane> => {
  const nats = way.nats === true ? stack.use(await startNats()) : undefined;
  const data = join(directory, "data");
  const { process: up, nextLine } = await launch({
    label: "toolplane up",
    argv: [
      process.execPath,
      join(root, "packages/server/bin/toolplane.mjs"),
      ...["up", "--port", "0", "--data", data, "--config", writeConfiguration(directory, way.shape === "turn")],
      ...["--database-url", store.url],
      ...(nats === undefined ? [] : ["--nats-url", nats.url]),
    ],
    cwd: root,
    mark: "ready ",
  });
  stack.defer(async () => void (await up.end()));
  const url = await nextLine();
  const token = readFileSync(join(data, "token"), "utf8").trim();
  const processes = [{ role: "server" as const, pid: up.pid }];
  if (nats === undefined) return { processes, url, serviceUrl: url, token };
  return { processes: [...processes, { role: "store", pid: nats.pid }], url, serviceUrl: nats.url, token };
};

const openOurs = async (way: Way, { root, sync }: { root: string; sync: boolean }): Promise<Running> => {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "toolplane-bench-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const store = stack.use(await openPostgres({ sync }));
  const journal = join(directory, "journal.ndjson");
  const module = (name: string): string => join(root, `bench/doors/ours/${name}.ts`);
  const processes: { role: Role; pid: number }[] = [{ role: "store", pid: store.pid }];
  let worker: Program | undefined;
  let place: { url?: string; token?: string } = {};
  if (way.shape !== "library") {
    const started = await startPlane({ way, root, directory, store, stack });
    processes.push(...started.processes);
    place = { url: started.url, token: started.token };
    const config = { ...place, url: started.serviceUrl, project: PROJECT, journal, module: module("service") };
    worker = stack.use(await startProgram({ label: "the tool service", main: "worker", config, root }));
    processes.push({ role: "worker", pid: worker.pid });
  }
  const config = { ...place, databaseUrl: store.url, journal, module: module(way.caller) };
  const label = `the caller of ${way.name}`;
  const caller = stack.use(await startProgram({ label, main: "caller", config, root }));
  processes.push({ role: "caller", pid: caller.pid });
  const owned = stack.move();
  return {
    processes,
    caller,
    store: way.nats === true ? `${store.description}, nats-server` : store.description,
    readCounts: () => store.readCounts(),
    async close(): Promise<Closing> {
      const { calls } = (await caller.end()) as { readonly calls: number };
      await worker?.end();
      const carrier = way.nats === true ? "external" : "postgres";
      const run = { databaseUrl: store.url, journal, carrier, wakeupsJournaled: false } as const;
      // The server still runs: it takes the last events and sends the last messages.
      // The checker reads the tables of this checkout; another one has other tables, and only its results are counted.
      const findings = root === ROOT ? await checkWhenQuiet(run, QUIET_MS) : undefined;
      const stored = await store.count(COUNT_OURS[way.shape === "turn" ? "turns" : "calls"]);
      return { calls, stored, findings };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

const findNatsMissing = async (): Promise<string | undefined> => {
  try {
    await using _server = await startNats();
    return undefined;
  } catch (error) {
    return isToolplaneError(error) ? error.message : String(error);
  }
};

const findClientMissing = (root: string): string | undefined => {
  const { exports } = JSON.parse(readFileSync(join(root, "packages/sdk/package.json"), "utf8")) as {
    readonly exports: object;
  };
  return "./client" in exports ? undefined : "this checkout has no @toolplane/sdk/client";
};

const findWayMissing = async ({ caller, nats }: Way, root: string): Promise<string | undefined> =>
  (caller === "by-client" ? findClientMissing(root) : undefined) ?? (nats === true ? findNatsMissing() : undefined);

export interface OurOptions {
  /** Another checkout than this one, and the commit it is at. */
  readonly baseline?: { readonly root: string; readonly commit: string } | undefined;
  /** False for a run whose figures are not looked at: its database is in memory. */
  readonly sync?: boolean | undefined;
}

export const ourContestants = ({ baseline, sync = true }: OurOptions = {}): readonly Contestant[] => {
  const { root = ROOT, commit } = baseline ?? {};
  return WAYS.map((way) => ({
    key: commit === undefined ? way.key : `${way.key}@${commit}`,
    name: commit === undefined ? way.name : `${way.name}, ${commit}`,
    kind: commit === undefined ? "ours" : "baseline",
    shape: way.shape,
    settings: way.settings,
    findMissing: () => findWayMissing(way, root),
    open: () => openOurs(way, { root, sync }),
  }));
};
