// A server with tools behind it, a proxy before it, and a client: what the tests of callers stand on.

import { defineTool, type Serving, serveTools, silentLog, systemClock, ToolError, toolResult } from "@toolplane/sdk";
import { connect, type Plane } from "@toolplane/sdk/client";
import { createEngineGateway, listen } from "@toolplane/server/internal";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

export interface CallerWorld extends AsyncDisposable {
  readonly http: HttpStack;
  readonly proxy: CuttingProxy;
  readonly plane: Plane;
  /** What the tools were run with, in order. */
  readonly runs: readonly unknown[];
  /** Lets the calls of `slow` end. */
  release(): void;
  /** Calls of `slow` whose signal was aborted. */
  readonly aborted: readonly unknown[];
}

const ANY = { type: "object" } as const;

export const startCallerWorld = async (): Promise<CallerWorld> => {
  // A service hears of a cancellation with its next heartbeat, a third of the lease later.
  const http = await startHttpStack({ leaseSeconds: 3 });
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  const proxy = await startCuttingProxy(`http://${server.address}`);
  const runs: unknown[] = [];
  const aborted: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const tools = [
    defineTool({
      ...{ name: "double", description: "Twice a number", retry: "safe" },
      parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      run: async ({ n }: { n: number }) => {
        runs.push(n);
        return n * 2;
      },
    }),
    defineTool({
      ...{ name: "slow", description: "Ends when the test says so", parameters: ANY, retry: "safe" },
      run: async (args, { signal }) => {
        runs.push(args);
        signal.addEventListener("abort", () => aborted.push(args));
        await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
        return "at last";
      },
    }),
    defineTool({
      ...{ name: "refuse", description: "Says no", parameters: ANY },
      run: async ({ code }) => {
        throw new ToolError(String(code), "not today", { detail: { tried: 1 } });
      },
    }),
    defineTool({
      ...{ name: "half", description: "Has half of it", parameters: ANY },
      run: async () => toolResult({ status: "partial", result: [1], error: { code: "tool_error", message: "half" } }),
    }),
  ];
  const means = { clock: systemClock, random: Math.random };
  const gateway = createEngineGateway({
    ...means,
    engine: http.t.engine,
    projectId: http.t.projectId,
    actorId: "tool.callers",
    holder: "callers",
  });
  const serving: Serving = await serveTools(tools, {
    ...means,
    ...{ target: "callers", gateway, log: silentLog, handleSignals: false, concurrency: 300 },
  });
  const plane = connect({ url: proxy.url, token: http.admin, project: "demo" });
  return {
    http,
    proxy,
    plane,
    runs,
    aborted,
    release: gate.resolve,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await plane.close();
      await serving.stop();
      await proxy[Symbol.asyncDispose]();
      await server.close(0);
      await http[Symbol.asyncDispose]();
    },
  };
};
