// DBOS Transact: a workflow with one step in the caller's own process, as its documentation begins; and a queue whose
// workflows another process runs, with a client that enqueues and waits.

import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { ARGUMENTS, type Caller, CONCURRENCY, type Config, checkEcho, type Worker } from "./shapes.ts";

const NAME = "bench-echo";
const QUEUE = "echo";
// The defaults are a second; shorter pauses answer sooner and ask the database more often. A tenth of what one call takes.
const POLL_MS = 10;
const POOL = 20;

const echo = async (given: object): Promise<object> => given;

const registerEcho = () =>
  DBOS.registerWorkflow(async (given: object) => DBOS.runStep(() => echo(given), { name: "echo" }), { name: "echo" });

const configure = ({ databaseUrl }: Config): void => {
  DBOS.setConfig({
    name: NAME,
    systemDatabaseUrl: databaseUrl ?? "",
    systemDatabasePoolSize: POOL,
    logLevel: "error",
    applicationVersion: "1",
  });
};

/** Workflow and step in one process: DBOS as a library. */
export const openLibrary = async (config: Config): Promise<Caller> => {
  configure(config);
  const workflow = registerEcho();
  await DBOS.launch();
  return {
    async call() {
      checkEcho(await workflow(ARGUMENTS));
    },
    close: () => DBOS.shutdown(),
  };
};

export const openWorker = async (config: Config): Promise<Worker> => {
  configure(config);
  registerEcho();
  await DBOS.launch();
  await DBOS.registerQueue(QUEUE, { workerConcurrency: CONCURRENCY, minPollingIntervalMs: POLL_MS });
  return { close: () => DBOS.shutdown() };
};

export const openCaller = async ({ databaseUrl = "" }: Config): Promise<Caller> => {
  const client = await DBOSClient.create({
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: POOL,
    applicationName: NAME,
  });
  return {
    async call() {
      const handle = await client.enqueue({ workflowName: "echo", queueName: QUEUE, appVersion: "1" }, ARGUMENTS);
      checkEcho(await handle.getResult({ pollingIntervalMs: POLL_MS }));
    },
    close: () => client.destroy(),
  };
};
