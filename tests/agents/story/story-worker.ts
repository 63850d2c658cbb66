// The worker of the story, as a process that can be killed. What its agents think is in their profiles: a script, or a
// model behind a socket.

import { createBrainSource, createWorker } from "@toolplane/agents";
import { parseAllowedOrigin } from "@toolplane/egress/policy";
import { createEngine, systemClock } from "@toolplane/engine";

export interface StoryWorkerConfig {
  readonly url: string;
  readonly pool: string;
  /** The model's, when there is one. */
  readonly origin?: string | undefined;
  readonly turns: { readonly claimSeconds: number; readonly maxClaims: number };
}

const config = JSON.parse(process.argv[2] ?? "{}") as StoryWorkerConfig;

const engine = await createEngine({
  connection: { connectionString: config.url },
  turns: config.turns,
});
const worker = createWorker({
  engine,
  brains: createBrainSource({
    secret: () => "no-secret",
    clock: systemClock,
    allowOrigins: config.origin === undefined ? [] : [parseAllowedOrigin(config.origin)],
  }),
  workerTargets: [config.pool],
  concurrency: 8,
  heartbeatMs: 200,
  lookMs: 200,
});
await worker.start();
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
