// The neighbours: products that make a job durable, run it and keep its result. Each module in bench/neighbours is written
// as the product's own documentation recommends for throughput.

import { join } from "node:path";
import type { Closing, Contestant, Role, Running, StoreCounts } from "./contestant.ts";
import { findNeighbourMissing, NEIGHBOURS, neighbourVersion } from "./neighbours.ts";
import { startProgram } from "./program.ts";
import type { ProgramConfig } from "./programs/conversation.ts";
import { openPostgres } from "./stores/postgres.ts";
import { type AppendSync, findRedisMissing, openRedis } from "./stores/redis.ts";
import { findRestateMissing, openRestate } from "./stores/restate.ts";
import { COUNT_STORED } from "./stores/stored.sql.ts";

interface PeerStore extends AsyncDisposable {
  readonly pid: number;
  readonly description: string;
  /** What programs are told of it. */
  readonly config: Omit<ProgramConfig, "module">;
  /** A server between caller and worker that is its own store. */
  readonly role: "store" | "server";
  readCounts(): Promise<StoreCounts>;
  countStored(): Promise<number>;
}

interface Peer {
  readonly key: string;
  readonly name: string;
  /** The package whose version is shown. */
  readonly package: string;
  /** The file in bench/neighbours, without its ending, and what of it the caller opens. */
  readonly module: string;
  readonly opens?: string;
  readonly shape: Contestant["shape"];
  readonly mayLose?: string;
  readonly settings: string;
  findMissing?(): string | undefined;
  openStore(): Promise<PeerStore>;
}

const onPostgres = (counting: keyof typeof COUNT_STORED) => async (): Promise<PeerStore> => {
  const store = await openPostgres();
  return {
    pid: store.pid,
    description: store.description,
    config: { databaseUrl: store.url },
    role: "store",
    readCounts: () => store.readCounts(),
    countStored: () => store.count(COUNT_STORED[counting]),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
};

const onRedis = (appendSync: AppendSync) => async (): Promise<PeerStore> => {
  const store = await openRedis(appendSync);
  return {
    pid: store.pid,
    description: store.description,
    config: { port: store.port },
    role: "store",
    readCounts: () => store.readCounts(),
    countStored: () => store.countMembers("bull:bench:completed"),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
};

const onRestate = async (): Promise<PeerStore> => {
  const store = await openRestate();
  return {
    pid: store.pid,
    description: "its own log and RocksDB, defaults",
    config: { url: store.url, adminUrl: store.adminUrl },
    role: "server",
    readCounts: async () => ({}),
    countStored: () => store.countStored(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
};

const PG_BOSS = {
  package: "pg-boss",
  module: "pg-boss",
  shape: "apart",
  openStore: onPostgres("pg-boss"),
} as const;
const PG_BOSS_WORKER =
  "worker: `batchSize` 256, `perJobResults`, `useListenNotify`, `burstWhenBatchFull`; results told by a trigger with NOTIFY";

const GRAPHILE = {
  package: "graphile-worker",
  module: "graphile-worker",
  openStore: onPostgres("graphile-worker"),
} as const;
const GRAPHILE_WORKER =
  "worker: `concurrentJobs` 24, `localQueue` 500, `completeJobBatchDelay` 0; the task stores its result and notifies in one statement";

const DBOS = { package: "@dbos-inc/dbos-sdk", module: "dbos", openStore: onPostgres("dbos") } as const;

const BULLMQ = { package: "bullmq", module: "bullmq", shape: "apart", findMissing: findRedisMissing } as const;
const BULLMQ_SETTINGS =
  "one `add` and `waitUntilFinished` per call; worker: `concurrency` 256; completed jobs are kept";

const PEERS: readonly Peer[] = [
  {
    ...PG_BOSS,
    key: "pg-boss",
    name: "pg-boss",
    settings: `caller: one \`send\` per call; ${PG_BOSS_WORKER}`,
  },
  {
    ...PG_BOSS,
    key: "pg-boss-gathered",
    name: "pg-boss, gathered",
    opens: "openGatheringCaller",
    settings: `caller: calls of one moment in one \`insert\`, by code of its user; ${PG_BOSS_WORKER}`,
  },
  {
    ...GRAPHILE,
    key: "graphile",
    name: "graphile-worker",
    shape: "apart",
    settings: `caller: one \`addJob\` per call; ${GRAPHILE_WORKER}`,
  },
  {
    ...GRAPHILE,
    key: "graphile-gathered",
    name: "graphile-worker, gathered",
    shape: "apart",
    opens: "openGatheringCaller",
    settings: `caller: calls of one moment in one \`addJobs\`, by code of its user; ${GRAPHILE_WORKER}`,
  },
  {
    ...GRAPHILE,
    key: "graphile-library",
    name: "graphile-worker in one process",
    shape: "library",
    opens: "openLibrary",
    settings: `caller: one \`addJob\` per call; ${GRAPHILE_WORKER}`,
  },
  {
    ...DBOS,
    key: "dbos",
    name: "DBOS workflow + step",
    shape: "library",
    opens: "openLibrary",
    settings: "a workflow with one `runStep` in the caller's process; pool of 20",
  },
  {
    ...DBOS,
    key: "dbos-queue",
    name: "DBOS queue",
    shape: "apart",
    settings:
      "`DBOSClient.enqueue` and `getResult` per call, polled every 10 ms; queue: `workerConcurrency` 256, `minPollingIntervalMs` 10; pools of 20",
  },
  {
    ...BULLMQ,
    key: "bullmq",
    name: "BullMQ, AOF always",
    settings: BULLMQ_SETTINGS,
    openStore: onRedis("always"),
  },
  {
    ...BULLMQ,
    key: "bullmq-everysec",
    name: "BullMQ, AOF every second",
    mayLose: "A power cut may take the last second of acknowledged calls and results.",
    settings: BULLMQ_SETTINGS,
    openStore: onRedis("everysec"),
  },
  {
    key: "restate",
    name: "Restate",
    package: "@restatedev/restate-server",
    module: "restate",
    shape: "apart",
    settings:
      "caller: one request per call to the ingress, undici Pool, an idempotency key each so that the result is kept",
    findMissing: findRestateMissing,
    openStore: onRestate,
  },
];

const openPeer = async (peer: Peer): Promise<Running> => {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await peer.openStore());
  const config = { ...store.config, module: join(NEIGHBOURS, `${peer.module}.ts`), opens: peer.opens };
  const processes: { role: Role; pid: number }[] = [{ role: store.role, pid: store.pid }];
  const worker =
    peer.shape === "library"
      ? undefined
      : stack.use(await startProgram({ label: `the worker of ${peer.name}`, main: "worker", config }));
  if (worker !== undefined) processes.push({ role: "worker", pid: worker.pid });
  const caller = stack.use(await startProgram({ label: `the caller of ${peer.name}`, main: "caller", config }));
  processes.push({ role: "caller", pid: caller.pid });
  const owned = stack.move();
  return {
    processes,
    caller,
    store: store.description,
    readCounts: () => store.readCounts(),
    async close(): Promise<Closing> {
      const { calls } = (await caller.end()) as { readonly calls: number };
      await worker?.end();
      return { calls, stored: await store.countStored() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

/** `home`: where their packages are installed. */
export const peerContestants = (home = NEIGHBOURS): readonly Contestant[] =>
  PEERS.map((peer) => ({
    key: peer.key,
    name: `${peer.name} ${neighbourVersion(peer.package)}`,
    kind: "peer",
    shape: peer.shape,
    mayLose: peer.mayLose,
    settings: peer.settings,
    findMissing: async () => findNeighbourMissing(peer.package, home) ?? peer.findMissing?.(),
    open: () => openPeer(peer),
  }));
