// BullMQ: one `add` per call, `waitUntilFinished` on the queue's events, a worker with a concurrency of 256 (its guide: 100
// to 300 for jobs that mostly wait). Completed jobs stay in Redis with their return value.

import { Queue, QueueEvents, Worker as QueueWorker } from "bullmq";
import { ARGUMENTS, type Caller, CONCURRENCY, type Config, checkEcho, type Worker } from "./shapes.ts";

const QUEUE = "bench";

const connectionTo = ({ port = 0 }: Config) => ({ host: "127.0.0.1", port, maxRetriesPerRequest: null });

export const openWorker = async (config: Config): Promise<Worker> => {
  const worker = new QueueWorker(QUEUE, async (job) => job.data as object, {
    connection: connectionTo(config),
    concurrency: CONCURRENCY,
  });
  await worker.waitUntilReady();
  return { close: () => worker.close() };
};

export const openCaller = async (config: Config): Promise<Caller> => {
  const queue = new Queue(QUEUE, { connection: connectionTo(config) });
  const events = new QueueEvents(QUEUE, { connection: connectionTo(config) });
  // One listener for every job that is waited for.
  events.setMaxListeners(0);
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  return {
    async call() {
      const job = await queue.add("echo", ARGUMENTS);
      checkEcho(await job.waitUntilFinished(events));
    },
    async close() {
      await events.close();
      await queue.close();
    },
  };
};
