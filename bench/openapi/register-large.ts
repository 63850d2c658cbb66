// The whole way of one large document: read in the thread, registered with an engine, then a second start with the unchanged
// document. Says how long each took, and the memory of the process before, at most and after.

import { createEngine, systemClock } from "@toolplane/engine";
import { NO_OFFSET, runApis } from "@toolplane/server/internal";
import { startTestPostgres } from "@toolplane/testkit";

export interface RegisterLine {
  readonly tools: number;
  readonly firstMs: number;
  readonly secondMs: number;
  readonly heapBeforeMb: number;
  readonly heapAfterMb: number;
  readonly rssAfterMb: number;
  readonly longestPauseMs: number;
}

const MEGABYTE = 1024 * 1024;
const [file = ""] = process.argv.slice(2);

const server = await startTestPostgres();
const engine = await createEngine({ connection: { connectionString: server.url() }, watchdog: false });
const projectId = "demo";
await engine.projects.createProject({ project_id: projectId, title: "Demo", bootstrap: false }, "sys.bench");
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const start = async (): Promise<number> => {
  const startedAt = performance.now();
  const apis = runApis({
    engine,
    clock: systemClock,
    random: Math.random,
    log: quiet,
    offset: NO_OFFSET,
    holder: "bench",
    env: {},
    settings: {
      apis: [
        {
          name: "github",
          spec: { file },
          prefix: undefined,
          baseUrl: "https://api.github.com",
          allowHosts: ["api.github.com", "*.github.com", "*.githubcopilot.com"],
          operations: undefined,
          auth: undefined,
          timeoutSeconds: undefined,
        },
      ],
      project: projectId,
      egressAllow: [],
      envGrants: [],
      serviceEnvs: {},
    },
  });
  await apis.tried;
  const ms = Math.round(performance.now() - startedAt);
  await apis.stop(0);
  return ms;
};

const heapMb = (): number => {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / MEGABYTE);
};

const countTools = async (): Promise<number> => {
  let [count, cursor]: [number, string | undefined] = [0, undefined];
  do {
    const page = await engine.tools.listTools(projectId, { limit: 200, cursor });
    count += page.items.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return count;
};

const heapBeforeMb = heapMb();
let [last, longestPauseMs] = [performance.now(), 0];
const watch = setInterval(() => {
  longestPauseMs = Math.max(longestPauseMs, Math.round(performance.now() - last - 10));
  last = performance.now();
}, 10);
const firstMs = await start();
const secondMs = await start();
clearInterval(watch);
const line: RegisterLine = {
  tools: await countTools(),
  firstMs,
  secondMs,
  heapBeforeMb,
  heapAfterMb: heapMb(),
  rssAfterMb: Math.round(process.memoryUsage().rss / MEGABYTE),
  longestPauseMs,
};
process.stdout.write(`${JSON.stringify(line)}\n`);
await engine.close();
await server.stop();
