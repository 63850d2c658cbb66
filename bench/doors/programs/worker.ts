// The worker's process of every contestant that has one: runs what the module opens until the harness ends it.

import { answerLines, type ProgramConfig, readConfig, say } from "./conversation.ts";

export interface Worker {
  close(): Promise<void>;
}

interface WorkerModule {
  openWorker(config: ProgramConfig): Promise<Worker>;
}

const config = readConfig();
const { openWorker } = (await import(config.module)) as WorkerModule;
const worker = await openWorker(config);
say({ ready: true });
await answerLines(async () => {
  await worker.close();
  say({ ended: true });
  return undefined;
});
process.exit(0);
