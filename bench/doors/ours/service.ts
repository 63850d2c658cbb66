// A tool service in a process of its own, over HTTP or NATS by the address it gets: what people run.

import { serveTools, silentLog } from "@toolplane/sdk";
import type { ProgramConfig } from "../programs/conversation.ts";
import type { Worker } from "../programs/worker.ts";
import { openAccounts } from "./accounts.ts";
import { CONCURRENCY, createEcho, TARGET } from "./tool.ts";

export const openWorker = async ({ url, token, project, journal }: ProgramConfig): Promise<Worker> => {
  const accounts = openAccounts(journal);
  const serving = await serveTools([createEcho(accounts)], {
    target: TARGET,
    url,
    token,
    project,
    concurrency: CONCURRENCY,
    handleSignals: false,
    log: silentLog,
  });
  return {
    async close() {
      await serving.stop();
      accounts.write();
    },
  };
};
