// serveTools against an engine: a service whose tools a person has guarded, changed under it or deleted.

import { systemClock } from "@toolplane/engine";
import { defineTool, type Log, serveTools } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { expect, test } from "vitest";
import { startHttpStack } from "../http/http-stack.ts";

const by = { door: "http", tokenId: null, role: "operator", actor: "Ada" } as const;

test("[SEC-guard-7] [ENG-pin-5] a service starts under a person's guards, serves the accepted version and says what waits", async () => {
  await using http = await startHttpStack();
  const { engine, projectId } = http.t;
  const said: string[] = [];
  const log: Log = { info() {}, warn: (text) => said.push(text), error: (text) => said.push(text) };
  const pay = (options: Parameters<typeof defineTool>[0]["options"]) =>
    defineTool({ name: "pay", description: "Pays", parameters: { type: "object" }, options, run: () => "paid" });
  const gateway = createEngineGateway({
    engine,
    projectId,
    actorId: "tool.shop",
    holder: "test",
    clock: systemClock,
    random: () => 0.5,
  });
  const serve = (options: Parameters<typeof pay>[0]) =>
    serveTools([pay(options)], { target: "shop", gateway, handleSignals: false, log });
  const settled = async () => {
    const { toolCallId } = await engine.calls.dispatch({ projectId, toolName: "pay", arguments: {} });
    const key = { projectId, toolCallId };
    if ((await engine.calls.get(key)).status === "awaiting_approval")
      await engine.approvals.approve({ ...key, by: "Ada" });
    await engine.calls.wait(key, 20_000);
    return (await engine.calls.get(key)).status;
  };
  {
    await using _ = await serve({});
    const tool = await engine.tools.getTool(projectId, "pay");
    await engine.tools.upsertTool(projectId, { ...tool?.definition, options: { approval: "required", pin: "strict" } });
  }
  {
    // It says nothing of approval and pin: both stay, and the pin holds for the definition in force.
    await using _ = await serve({});
    const { toolCallId } = await engine.calls.dispatch({ projectId, toolName: "pay", arguments: {} });
    expect((await engine.calls.get({ projectId, toolCallId })).status).toBe("awaiting_approval");
    expect(await settled()).toBe("success");
    expect(said).toEqual([]);
  }
  {
    await using _ = await serve({ approval: "never" });
    expect(said).toEqual([
      expect.stringMatching(/^version \d+ of pay waits for a person.*tools accept pay --version \d+$/),
    ]);
    // Its code is not the definition the calls are pinned to: they wait for a service with that code, and why says so.
    const { toolCallId } = await engine.calls.dispatch({ projectId, toolName: "pay", arguments: {} });
    const key = { projectId, toolCallId };
    await engine.approvals.approve({ ...key, by: "Ada" });
    const why = async () => String((await http.send("GET", `/projects/${projectId}/calls/${toolCallId}/why`)).body.why);
    await expect
      .poll(why)
      .toContain("runs version 2 of pay, under which it was made (pin: strict), and of the services of target shop");
    expect((await engine.calls.get(key)).status).toBe("queued");
    await engine.calls.cancel(key);
  }
  await engine.tools.deleteTool(projectId, "pay", { by });
  await using _ = await serve({});
  expect(said.at(-1)).toMatch(
    /^pay is not registered: a person deleted it; to accept it run: toolplane tools accept pay/,
  );
  expect(await engine.tools.getTool(projectId, "pay")).toBeUndefined();
});
