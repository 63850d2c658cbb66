// pg-boss: jobs by `insert` in batches, a worker with a large batch, a result per job, woken by LISTEN/NOTIFY. Settings as its
// documentation recommends for throughput and low latency (docs/api/workers.md: batchSize, perJobResults, useListenNotify).

import { PgBoss } from "pg-boss";
import { TELL_COMPLETED_JOBS } from "./results.sql.ts";
import { openListeningCaller } from "./results.ts";
import { ARGUMENTS, type Caller, CONCURRENCY, type Config, type Worker } from "./shapes.ts";
import { sendTogether } from "./together.ts";

const QUEUE = "echo";

const startBoss = async ({ databaseUrl = "" }: Config, worker: boolean): Promise<PgBoss> => {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    useListenNotify: worker,
    supervise: worker,
    schedule: false,
  });
  boss.on("error", (error) => process.stderr.write(`${error.message}\n`));
  await boss.start();
  return boss;
};

export const openWorker = async (config: Config): Promise<Worker> => {
  const boss = await startBoss(config, true);
  await boss.createQueue(QUEUE, { notify: true });
  for (const text of TELL_COMPLETED_JOBS) await boss.getDb().executeSql(text);
  const options = { batchSize: CONCURRENCY, perJobResults: true, burstWhenBatchFull: true } as const;
  await boss.work<object>(QUEUE, options, async (jobs) =>
    jobs.map(({ id, data }) => ({ id, status: "completed" as const, output: data })),
  );
  return { close: () => boss.stop() };
};

const openCallerWith = async (
  config: Config,
  send: (boss: PgBoss) => (id: string) => Promise<void>,
): Promise<Caller> => {
  const boss = await startBoss(config, false);
  return openListeningCaller(config.databaseUrl ?? "", send(boss), () => boss.stop());
};

/** One `send` per call. */
export const openCaller = (config: Config): Promise<Caller> =>
  openCallerWith(config, (boss) => async (id) => {
    await boss.send(QUEUE, ARGUMENTS, { id });
  });

/** Calls of one moment in one `insert`. */
export const openGatheringCaller = (config: Config): Promise<Caller> =>
  openCallerWith(config, (boss) =>
    sendTogether<string>(async (ids) => {
      await boss.insert(
        QUEUE,
        ids.map((id) => ({ id, data: ARGUMENTS })),
      );
    }),
  );
