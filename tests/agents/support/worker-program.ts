// A worker as a process of its own, so that it can be killed and its memory measured. Its one argument says where the
// database is and how its brain behaves: it calls `wait` in every step below `calls`, then delivers. In the step `stuckAt`
// it thinks for ever. It says `ready`, and each step it begins to think about.

import { createFunctionBrain, createWorker } from "@toolplane/agents";
import { createEngine } from "@toolplane/engine";

export interface WorkerProgramConfig {
  readonly url: string;
  readonly pool: string;
  readonly concurrency: number;
  /** Steps that call a tool before the one that delivers. */
  readonly calls: number;
  readonly toolName: string;
  readonly stuckAt?: number;
  /** Says nothing about steps. */
  readonly quiet?: boolean;
}

const config = JSON.parse(process.argv[2] ?? "{}") as WorkerProgramConfig;
const say = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`);

const engine = await createEngine({ connection: { connectionString: config.url } });

const brain = createFunctionBrain(({ agentId, stepNumber }) => {
  if (config.quiet !== true) say({ agentId, stepNumber });
  if (stepNumber === config.stuckAt) return new Promise<string>(() => {});
  if (stepNumber > config.calls) return `${agentId} is done`;
  return { toolCalls: [{ name: config.toolName, arguments: { text: `${agentId} ${stepNumber}` } }] };
});

const worker = createWorker({
  engine,
  brains: async () => brain,
  workerTargets: [config.pool],
  concurrency: config.concurrency,
  heartbeatMs: 500,
  lookMs: 500,
});
await worker.start();
say({ ready: true });
process.once("SIGTERM", () => {
  void worker.stop().then(() => engine.close());
});
