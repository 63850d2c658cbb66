// graphile-worker with its local queue and batched completion, the configuration of its performance page
// (worker.graphile.org/docs/performance: concurrentJobs 24, localQueue 500, completeJobBatchDelay 0). It deletes a job when it
// is done, so the task stores its result itself.

import { Logger, makeWorkerUtils, run, type WorkerUtils } from "graphile-worker";
import { Pool } from "pg";
import { MAKE_RESULTS, STORE_RESULT } from "./results.sql.ts";
import { openListeningCaller } from "./results.ts";
import { ARGUMENTS, type Caller, type Config, type Worker } from "./shapes.ts";
import { sendTogether } from "./together.ts";

const TASK = "echo";
const CONCURRENT_JOBS = 24;
const logger = new Logger(() => () => undefined);

interface Payload {
  readonly id: string;
  readonly arguments: object;
}

const presetFor = (connectionString: string) => ({
  worker: {
    connectionString,
    concurrentJobs: CONCURRENT_JOBS,
    maxPoolSize: CONCURRENT_JOBS + 1,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger,
  },
});

export const openWorker = async ({ databaseUrl = "" }: Config): Promise<Worker> => {
  const pool = new Pool({ connectionString: databaseUrl, max: CONCURRENT_JOBS });
  await pool.query(MAKE_RESULTS);
  const runner = await run({
    preset: presetFor(databaseUrl),
    noHandleSignals: true,
    taskList: {
      [TASK]: async (payload) => {
        const { id, arguments: output } = payload as Payload;
        await pool.query(STORE_RESULT, [id, output]);
      },
    },
  });
  return {
    async close() {
      await runner.stop();
      await pool.end();
    },
  };
};

const openCallerWith = async (
  databaseUrl: string,
  send: (utils: WorkerUtils) => (id: string) => Promise<void>,
): Promise<Caller> => {
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger });
  return openListeningCaller(databaseUrl, send(utils), async () => utils.release());
};

const payloadOf = (id: string): Payload => ({ id, arguments: ARGUMENTS });

/** One `addJob` per call. */
export const openCaller = ({ databaseUrl = "" }: Config): Promise<Caller> =>
  openCallerWith(databaseUrl, (utils) => async (id) => {
    await utils.addJob(TASK, payloadOf(id));
  });

/** Calls of one moment in one `addJobs`. */
export const openGatheringCaller = ({ databaseUrl = "" }: Config): Promise<Caller> =>
  openCallerWith(databaseUrl, (utils) =>
    sendTogether<string>(async (ids) => {
      await utils.addJobs(ids.map((id) => ({ identifier: TASK, payload: payloadOf(id) })));
    }),
  );

/** Worker and caller in one process. */
export const openLibrary = async (config: Config): Promise<Caller> => {
  const worker = await openWorker(config);
  const caller = await openCaller(config);
  return {
    call: caller.call,
    async close() {
      await caller.close();
      await worker.close();
    },
  };
};
