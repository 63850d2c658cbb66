// A service runs a call of a tool with a rate once for each lease, because each start takes a token. By HTTP and in the plane's process.

import { defineTool, serveTools, silentLog, systemClock, ToolError } from "@toolplane/sdk";
import { createEngineGateway, listen } from "@toolplane/server/internal";
import { toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startHttpStack } from "../http/http-stack.ts";

test.each(["over HTTP", "in the plane's process"])("[LIM-tool-3] %s a rate counts each start", async (way) => {
  await using http = await startHttpStack({ tools: [] });
  const { engine, projectId } = http.t;
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  const runs: string[] = [];
  const failing = (name: string) =>
    defineTool({
      ...{ name, description: "Fails", retry: "safe", parameters: { type: "object" } },
      run: async () => {
        runs.push(name);
        throw new ToolError("upstream_unavailable", "away");
      },
    });
  const means = { clock: systemClock, random: Math.random };
  const ways =
    way === "over HTTP"
      ? { url: `http://${server.address}`, token: http.admin, project: projectId }
      : { gateway: createEngineGateway({ ...means, engine, projectId, actorId: "tool.rated", holder: "rated" }) };
  const serving = await serveTools([failing("free"), failing("rated")], {
    ...{ target: "rated", log: silentLog, handleSignals: false },
    ...ways,
  });
  // A person sets the rate while the service runs.
  const { definition } = (await engine.tools.getTool(projectId, "rated")) ?? {};
  const options = { ...definition?.options, rate: { limit: 1_000, per_seconds: 1 } };
  await engine.tools.upsertTool(projectId, {
    ...toolUpload({ name: "rated", target: "rated" }),
    ...definition,
    options,
  });
  for (const toolName of ["free", "rated"]) await engine.calls.call({ projectId, toolName, arguments: {} }, 60_000);
  expect(runs).toEqual(["free", "free", "free", "rated"]);
  await serving.stop();
  await server.close(1_000);
});
